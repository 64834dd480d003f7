// Runs the module beside the page, so that drawing never waits. One instance per `place`: a new
// run starts in fresh memory.
"use strict";
let compiled;
const instances = {};

async function fresh(place) {
    instances[place] = (await WebAssembly.instantiate(await compiled, {})).exports;
}

onmessage = async ({ data: { id, place, call, numbers, bytes, anew, module } }) => {
    if (module) {
        compiled = WebAssembly.compile(module);
        compiled.then(() => postMessage({ id, value: true }), (e) => postMessage({ id, error: String(e) }));
        return;
    }
    try {
        if (anew || !instances[place]) await fresh(place);
        const own = instances[place];
        if (bytes) {
            // Before the buffer is looked at: the call may make the memory grow.
            const place = own.input(bytes.length);
            new Uint8Array(own.memory.buffer).set(bytes, place);
        }
        const length = own[call](...numbers), from = own.answer();
        const answer = own.memory.buffer.slice(from, from + length);
        if (/_(truth|belief)$/.test(call)) {
            postMessage({ id, value: new Float32Array(answer) }, [answer]);
            return;
        }
        const value = JSON.parse(new TextDecoder().decode(answer));
        postMessage(value.error ? { id, error: value.error } : { id, value });
    } catch (e) {
        // A trap leaves the instance in an unknown state.
        delete instances[place];
        postMessage({ id, error: "the tuner stopped: " + e.message });
    }
};
