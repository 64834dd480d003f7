// The antenna, live: controls, Smith chart, curves and planes.
"use strict";
{
    const Z0 = 50, SIDE = 128;
    let about, truth, belief, state, steps = [], running = false, isStarted = false, isBusy = false, turn = 0;
    const load = () => ["r", "x", "mhz"].map((id) => Number($(id).value));
    const budget = () => Math.round(Number($("budget").value)) || 1;
    const layer = () => document.querySelector("[name=layer]:checked").value;

    // Γ of a load and back: where the point lies in the chart.
    const toChart = (r, x) => {
        const d = (r + Z0) ** 2 + x * x;
        return [(r * r - Z0 * Z0 + x * x) / d, -2 * Z0 * x / d];
    };
    const fromChart = (u, v) => {
        const most = 0.985, far = Math.hypot(u, v);
        if (far > most) [u, v] = [u * most / far, v * most / far];
        const d = (1 - u) ** 2 + v * v;
        return [Z0 * (1 - u * u - v * v) / d, -2 * Z0 * v / d];
    };

    function drawSmith() {
        const smith = $("smith");
        if (!smith.firstChild) {
            smith.append(element("circle", { cx: 0, cy: 0, r: 1, class: "arc" }), element("path", { d: "M-1 0H1", class: "arc" }));
            for (const r of [0.2, 0.5, 1, 2, 5]) smith.append(element("circle", { cx: r / (1 + r), cy: 0, r: 1 / (1 + r), class: "arc" }));
            for (const x of [0.2, 0.5, 1, 2, 5]) for (const sign of [1, -1]) {
                const [u, v] = toChart(0, sign * x * Z0);
                smith.append(element("path", { d: `M1 0A${1 / x} ${1 / x} 0 0 ${sign > 0 ? 1 : 0} ${u} ${v}`, class: "arc" }));
            }
            smith.append(element("text", { x: -0.06, y: 0.1, style: "font-size:.09px", "text-anchor": "end" }, "50 Ω"),
                element("circle", { cx: 0, cy: 0, r: 0.018, fill: "currentColor" }),
                element("circle", { id: "handle", class: "handle", r: 0.07, tabindex: 0, role: "slider", "aria-label": "Antenna: arrow keys move it", "aria-valuemin": -1, "aria-valuemax": 1, fill: "var(--own)", stroke: "var(--paper)", "stroke-width": 0.02 }));
            smith.append(element("text", { id: "handle-says", style: "font-size:.1px" }));
        }
        const [r, x] = load(), [u, v] = toChart(r, x);
        const says = `${digits(r)} ${x < 0 ? "−" : "+"} j${digits(Math.abs(x))} Ω`;
        for (const [key, value] of [["cx", u], ["cy", v], ["aria-valuenow", u.toFixed(3)], ["aria-valuetext", says]]) $("handle").setAttribute(key, value);
        const label = $("handle-says");
        label.textContent = says;
        label.setAttribute("text-anchor", u > 0.2 ? "end" : "start");
        label.setAttribute("x", u + (u > 0.2 ? -0.11 : 0.11));
        label.setAttribute("y", v > 0.9 ? v - 0.08 : v + 0.03);
    }

    function place(u, v) {
        const [r, x] = fromChart(u, v);
        $("r").value = Number(r.toPrecision(4));
        $("x").value = Number(x.toPrecision(4));
        drawSmith();
    }

    function drawCurve() {
        const svg = $("curve"), [left, right, top, bottom] = [52, 466, 16, 258];
        svg.replaceChildren();
        const count = Math.max(budget(), steps.length, 10);
        const across = (i) => left + (right - left) * i / count;
        const up = (swr) => bottom - (bottom - top) * Math.min(Math.log(Math.max(swr, 1)) / Math.log(100), 1);
        for (const swr of [1, 2, 5, 10, 20, 50, 100]) {
            svg.append(element("path", { d: `M${left} ${up(swr)}H${right}`, class: "gridline" }), element("text", { x: left - 8, y: up(swr) + 4, "text-anchor": "end" }, swr));
        }
        for (const i of [0, 0.25, 0.5, 0.75, 1].map((share) => Math.round(share * count))) {
            svg.append(element("text", { x: across(i), y: bottom + 18, "text-anchor": i === count ? "end" : "middle" }, i));
        }
        svg.append(element("text", { x: (left + right) / 2, y: bottom + 36, "text-anchor": "middle" }, "measurements"), element("text", { x: right, y: top + 16, "text-anchor": "end" }, "SWR (log)"));
        if (about?.optimum) svg.append(element("path", { d: `M${left} ${up(about.optimum.swr)}H${right}`, class: "line optimum" }));
        const line = (kind, value) => {
            let path = "";
            steps.forEach((step, i) => { const swr = value(step); if (swr != null) path += path ? `H${across(i + 1)}V${up(swr)}` : `M${across(i + 1)} ${up(swr)}`; });
            if (path) svg.append(element("path", { d: path, class: "line " + kind }));
        };
        line("random", (step) => step.rivals[0]);
        line("local", (step) => step.rivals[1]);
        line("own", (step) => step.best);
    }

    // The share of a colour between the smallest and the largest number.
    function shares(numbers) {
        const known = [...numbers].filter(Number.isFinite).sort((a, b) => a - b);
        const low = known[0], high = known[Math.floor(known.length * 0.98)] ?? 1;
        return (x) => Number.isFinite(x) ? (x - low) / (high - low || 1) : 1;
    }

    function layerNumbers() {
        if (layer() === "truth") return truth && { side: SIDE, numbers: truth.map((swr) => Math.log(swr)) };
        return belief && belief.layer === layer() ? belief : null;
    }

    function drawPlanes() {
        const drawn = layerNumbers();
        const share = drawn && shares(drawn.numbers);
        $("scale").textContent = { deviation: "certain to uncertain", score: "wanted to unwanted" }[layer()] ?? "good to bad";
        for (const which of [0, 1]) {
            const canvas = $("plane" + which), paint = canvas.getContext("2d"), size = canvas.width, cell = size / SIDE;
            paint.fillStyle = `rgb(${shade(1)})`;
            paint.fillRect(0, 0, size, size);
            if (drawn) {
                const step = size / drawn.side;
                for (let c = 0; c < drawn.side; c++) for (let l = 0; l < drawn.side; l++) {
                    paint.fillStyle = `rgb(${shade(share(drawn.numbers[(which * drawn.side + c) * drawn.side + l]))})`;
                    paint.fillRect(l * step, size - (c + 1) * step, step + 0.5, step + 0.5);
                }
            }
            const at = (levels) => [(levels[0] + 0.5) * cell, size - (levels[1] + 0.5) * cell];
            const ink = colour("--point"), paper = colour("--paper");
            paint.lineWidth = 2;
            steps.forEach((one, i) => {
                if (one.levels[2] !== which) return;
                const [x, y] = at(one.levels), age = (i + 1) / steps.length;
                paint.strokeStyle = ink;
                paint.beginPath();
                if (one.failed) {
                    paint.moveTo(x - 5, y - 5); paint.lineTo(x + 5, y + 5); paint.moveTo(x + 5, y - 5); paint.lineTo(x - 5, y + 5);
                } else {
                    paint.arc(x, y, 5, 0, 7);
                    paint.fillStyle = age > 0.66 ? "#b8400e" : age > 0.33 ? "#f58742" : paper;
                    paint.fill();
                }
                paint.stroke();
            });
            const mark = (one, draw) => { if (one && one.levels[2] === which) { paint.beginPath(); draw(...at(one.levels)); paint.stroke(); } };
            paint.strokeStyle = colour("--ring");
            paint.lineWidth = 4;
            mark(about?.optimum, (x, y) => paint.arc(x, y, 15, 0, 7));
            paint.strokeStyle = ink;
            paint.lineWidth = 1.5;
            mark(state?.best, (x, y) => {
                for (let i = 0; i < 10; i++) { const r = i % 2 ? 5.5 : 13, a = i * Math.PI / 5; paint.lineTo(x + r * Math.sin(a), y - r * Math.cos(a)); }
                paint.closePath();
                paint.fillStyle = colour("--star");
                paint.fill();
            });
            paint.lineWidth = 3.5;
            mark(state?.next, (x, y) => { paint.moveTo(x, y - 13); paint.lineTo(x + 13, y); paint.lineTo(x, y + 13); paint.lineTo(x - 13, y); paint.closePath(); });
            const side = ["load", "source"][which], count = steps.filter((one) => one.levels[2] === which).length;
            canvas.setAttribute("aria-label", `States with the capacitor on the ${side} side: ${count} measured`);
            paint.font = "18px system-ui, sans-serif";
            for (const [text, isRight, y] of [["20 nH", false, size - 8], ["8540 nH", true, size - 8], ["1874 pF", false, 22]]) {
                const wide = paint.measureText(text).width, x = isRight ? size - 6 - wide : 6;
                paint.fillStyle = paper;
                paint.fillRect(x - 4, y - 17, wide + 8, 23);
                paint.fillStyle = ink;
                paint.fillText(text, x, y);
            }
        }
    }

    const parts = (one) => one ? `SWR ${swrText(one.swr)}: ${one.nh} nH, ${one.pf} pF on the ${one.side}` : "–";
    function drawFacts() {
        const next = state?.next, rows = [
            ["left alone", about ? `SWR ${swrText(about.unmatched)}` : "–"],
            ["measured", `${steps.length} of ${about?.states ?? "–"} states` + (state?.failures ? `, ${state.failures} failed` : "")],
            ["best found", parts(state?.best)],
            ["best of all", parts(about?.optimum)],
            ["next choice", next ? `${next.nh} nH, ${next.pf} pF on the ${next.side}` + (next.deviation == null ? "" : `; cost ${digits(next.mean)} ± ${digits(next.deviation)} expected`) : "–"],
        ];
        $("facts").replaceChildren(...rows.flatMap(([name, text]) => {
            const [dt, dd] = [document.createElement("dt"), document.createElement("dd")];
            dt.textContent = name;
            dd.textContent = text;
            return [dt, dd];
        }));
    }

    function drawBits() {
        const same = state && state.fingerprint === state.chip;
        $("here").textContent = state?.proposals ? state.fingerprint : "–";
        $("chip").textContent = state?.proposals ? state.chip ?? "made no more proposals" : "–";
        $("agreement").textContent = !state?.proposals
            ? "Press start with the first settings: the chip ran 35 − j120 Ω at 7.1 MHz, seed 1, budget 120."
            : same ? `Equal after ${state.proposals} proposals.`
                : "They differ, as they must: with other settings, noise or another antenna the run is another one. Reload the page for the chip's.";
    }

    function draw() {
        drawSmith();
        drawCurve();
        drawPlanes();
        drawFacts();
        drawBits();
        $("run").textContent = running ? "Pause" : !isStarted ? "Start" : steps.length >= budget() ? "Go on" : "Run";
    }

    // What can be known of a load without measuring: the page shows it, the tuner never sees it.
    async function look() {
        const [r, x, mhz] = load(), own = ++turn;
        const [told, all] = await Promise.all([
            tuner.call("look", "antenna_about", [r, x, mhz, $("broken").checked ? 1 : 0]),
            tuner.call("look", "antenna_truth", [r, x, mhz]),
        ]);
        if (own === turn) [about, truth] = [told, all];
    }

    async function start() {
        const [r, x, mhz] = load();
        steps = [];
        belief = null;
        state = await tuner.call("antenna", "antenna_start", [r, x, mhz, Number($("seed").value), $("noise").checked ? 0.02 : 0, $("broken").checked ? 1 : 0, budget()], { anew: true });
        isStarted = true;
    }

    async function believe(stride) {
        const asked = layer(), number = ["mean", "deviation", "score"].indexOf(asked);
        if (number < 0 || !steps.length) return;
        const numbers = await tuner.call("antenna", "antenna_belief", [stride, number]);
        belief = { layer: asked, side: Math.sqrt(numbers.length / 2), numbers };
    }

    async function take(count) {
        if (!isStarted) await start();
        state = await tuner.call("antenna", "antenna_step", [count]);
        steps.push(...state.steps);
        await believe(running ? 4 : 2);
        draw();
    }

    function sayState() {
        say(`${steps.length} measured, best SWR ${swrText(state?.best?.swr)}; the best of all states has ${swrText(about?.optimum?.swr)}.`);
    }

    async function go() {
        running = true;
        draw();
        const end = steps.length >= budget() ? steps.length + budget() : budget();
        let before = performance.now(), told = 0;
        while (running && steps.length < end) {
            const perSecond = Number($("speed").value);
            // With reduced motion the picture changes twice a second.
            const pause = isCalm() ? 500 : Math.max(1000 / perSecond, 16);
            const count = Math.min(Math.max(Math.round(perSecond * pause / 1000), 1), 8, end - steps.length);
            await exclusive(() => take(count));
            if (performance.now() - told > 2000) { told = performance.now(); sayState(); }
            await new Promise((done) => setTimeout(done, Math.max(0, before + pause - performance.now())));
            before = performance.now();
        }
        running = false;
        await exclusive(() => believe(2));
        draw();
        sayState();
    }

    // One thing at a time: a step, a move or a new start.
    let queue = Promise.resolve();
    function exclusive(work) {
        const done = queue.then(work);
        queue = done.catch(() => {});
        return done;
    }
    const report = (error) => { running = false; say(error.message); draw(); };

    async function moved() {
        await look();
        if (!isStarted || !steps.length) { draw(); return; }
        const answer = await tuner.call("antenna", "antenna_move", [...load(), budget()]);
        state = answer;
        const [was, is] = answer.checked;
        if (answer.noticed) {
            steps = [];
            belief = null;
            say(`The antenna moved${is ? `: the best state had SWR ${swrText(was)} and now has ${swrText(is)}` : ""}. It tunes again from its best states.`);
        } else {
            say(`The antenna moved, but the best state is still good: SWR ${swrText(is)}.`);
        }
        draw();
    }

    async function anew() {
        running = false;
        await exclusive(async () => {
            isStarted = false;
            [steps, state, belief] = [[], null, null];
            await look();
            draw();
            say("Ready. Press start.");
        });
    }

    $("run").onclick = () => { if (running) running = false; else go().catch(report); };
    $("step").onclick = () => { running = false; exclusive(() => take(1)).then(sayState).catch(report); };
    $("reset").onclick = () => anew().catch(report);
    for (const id of ["seed", "budget", "noise", "broken"]) $(id).onchange = () => anew().catch(report);
    for (const id of ["r", "x", "mhz"]) $(id).onchange = () => exclusive(moved).catch(report);
    $("layers").onchange = () => exclusive(async () => { await believe(running ? 4 : 2); draw(); }).catch(report);
    addEventListener("recolour", draw);

    drawSmith();
    const handle = $("handle");
    handle.onpointerdown = (event) => { handle.setPointerCapture(event.pointerId); event.preventDefault(); handle.focus(); isBusy = true; };
    handle.onpointermove = (event) => {
        if (!isBusy) return;
        const box = $("smith").getBoundingClientRect();
        place((event.clientX - box.left) / box.width * 2.24 - 1.12, (event.clientY - box.top) / box.height * 2.24 - 1.12);
    };
    handle.onpointerup = () => { isBusy = false; exclusive(moved).catch(report); };
    handle.onkeydown = (event) => {
        const by = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
        if (!by) return;
        event.preventDefault();
        const [u, v] = toChart(...load());
        place(u + by[0] * 0.04, v + by[1] * 0.04);
        exclusive(moved).catch(report);
    };
    tuner.ready.then(anew).catch(report);
}
