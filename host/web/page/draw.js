// Talks to the worker, and helps to draw.
"use strict";
const $ = (id) => document.getElementById(id);

const tuner = (() => {
    // A worker from a blob: pages opened from disk may not load one from a file.
    const worker = new Worker(URL.createObjectURL(new Blob([WORKER], { type: "text/javascript" })));
    const waiting = new Map();
    let last = 0;
    worker.onmessage = ({ data: { id, value, error } }) => {
        const { resolve, reject } = waiting.get(id);
        waiting.delete(id);
        error ? reject(new Error(error)) : resolve(value);
    };
    const send = (message) => new Promise((resolve, reject) => {
        waiting.set(++last, { resolve, reject });
        worker.postMessage({ id: last, ...message });
    });
    const packed = new Blob([Uint8Array.from(atob(MODULE), (c) => c.charCodeAt(0))]);
    const unpacked = new Response(packed.stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
    const ready = unpacked.then((module) => send({ module }));
    return {
        ready,
        call: (place, call, numbers = [], more = {}) => ready.then(() => send({ place, call, numbers, ...more })),
    };
})();

const say = (text) => { if ($("status").textContent !== text) $("status").textContent = text; };
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const isDark = () => matchMedia("(prefers-color-scheme: dark)").matches;
const isCalm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
const digits = (x) => x == null ? "–" : Math.abs(x) >= 100 ? x.toFixed(0) : x.toFixed(Math.abs(x) >= 10 ? 1 : 2);
const swrText = (x) => x == null ? "–" : x >= 1e4 ? "over 10 000" : x < 1.1 ? x.toFixed(3) : digits(x);

// From good (blue) to bad (pale or dark), as in the pictures of the command line.
const LIGHT = [[38, 122, 176], [124, 187, 224], [195, 224, 242], [250, 252, 254]];
const DARK = [[88, 180, 235], [50, 115, 157], [32, 74, 102], [15, 24, 34]];
function shade(share) {
    const stops = isDark() ? DARK : LIGHT;
    const at = Math.min(Math.max(share, 0), 1) * (stops.length - 1);
    const i = Math.min(Math.floor(at), stops.length - 2);
    return stops[i].map((c, k) => Math.round(c + (stops[i + 1][k] - c) * (at - i)));
}

function element(name, attributes, text) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text != null) made.textContent = text;
    return made;
}

function paintScale() {
    const stops = [0, 1 / 3, 2 / 3, 1].map((share) => `rgb(${shade(share)})`);
    document.querySelector(".scale").style.background = `linear-gradient(to right, ${stops})`;
}
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => dispatchEvent(new Event("recolour")));
addEventListener("recolour", paintScale);
paintScale();
