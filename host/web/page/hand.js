// Five switches by hand, and the paper's map of them.
"use strict";
{
    let told = [], state, chosen = 0;
    const name = (index) => state.cells[index].levels.join("");

    async function update() {
        const bytes = new TextEncoder().encode(JSON.stringify(told));
        try {
            state = await tuner.call("hand", "hand_state", [Number($("map-seed").value), Number($("map").value), Number($("region").value)], { bytes });
        } catch (error) {
            told.pop();
            $("belief").textContent = error.message;
            return;
        }
        draw();
    }

    function choose(index) {
        chosen = index;
        draw();
    }

    function draw() {
        const cells = $("cells"), next = state.next?.index;
        const means = state.cells.map((cell) => cell.mean).filter((mean) => mean != null);
        const low = Math.min(...means), high = Math.max(...means);
        if (!cells.firstChild) {
            state.cells.forEach((_, i) => {
                const button = document.createElement("button");
                button.type = "button";
                button.onclick = () => choose(i);
                cells.append(button);
            });
        }
        state.cells.forEach((cell, i) => {
            const button = cells.children[i], isTold = cell.value != null;
            const share = cell.mean == null ? 1 : (cell.mean - low) / (high - low || 1);
            // Pale enough for dark letters, also on a dark page.
            button.style.background = `rgb(${[77, 160, 210].map((c, k) => Math.round(c + ([243, 247, 250][k] - c) * share))})`;
            const text = isTold ? `= ${digits(cell.value)}` : cell.mean == null ? "?" : `${digits(cell.mean)} ± ${digits(cell.deviation)}`;
            const bits = document.createElement("b");
            bits.textContent = name(i);
            button.replaceChildren(bits, text);
            button.className = [isTold ? "told" : "", i === next ? "next" : ""].join(" ");
            button.setAttribute("aria-pressed", i === chosen);
            button.setAttribute("aria-label", `${name(i)}: ${isTold ? "told " + digits(cell.value) : cell.mean == null ? "unknown" : `expected ${digits(cell.mean)}, give or take ${digits(cell.deviation)}`}${i === next ? ", the next choice" : ""}`);
        });
        $("chosen").textContent = name(chosen);
        $("undo").disabled = !told.length;
        const matters = state.relevance.map((r, i) => [r, i + 1]).sort((a, b) => b[0] - a[0]);
        $("belief").textContent = !told.length ? "Nothing is told yet: every combination is as good as any other."
            : `${told.length} told. ` + (next == null ? "Nothing is left to ask." : state.random ? `The next choice, ${name(next)}, is drawn at random: the model chooses from the fifth on.` : `The next choice, ${name(next)}, has the smallest μ − 2σ.`)
            + (told.length > 3 && matters[0][0] > 0 ? ` Switch ${matters[0][1]} matters most to the model.` : "");
        drawMap(next);
    }

    function drawMap() {
        const svg = $("polytope"), { points, hull, wanted, nearest, grid } = state.map;
        svg.replaceChildren();
        const [left, right, top, bottom] = [16, 624, 16, 444];
        const bounds = [0, 1].map((axis) => {
            const all = points.map((p) => p[axis]), low = Math.min(...all), high = Math.max(...all), air = 0.08 * (high - low);
            return state.map.frame ? state.map.frame[axis] : [low - air, high + air];
        });
        const at = ([x, y]) => [left + (right - left) * (x - bounds[0][0]) / (bounds[0][1] - bounds[0][0]), bottom - (bottom - top) * (y - bounds[1][0]) / (bounds[1][1] - bounds[1][0])];
        if (grid) {
            const low = Math.min(...grid.scores), high = Math.max(...grid.scores), w = (right - left) / (grid.side - 1), h = (bottom - top) / (grid.side - 1);
            grid.scores.forEach((score, i) => svg.append(element("rect", {
                x: left + (i % grid.side) * w - w / 2, y: bottom - Math.floor(i / grid.side) * h - h / 2, width: w + 0.6, height: h + 0.6,
                fill: `rgb(${shade((score - low) / (high - low || 1))})`,
            })));
        }
        svg.append(element("path", { d: "M" + hull.map((p) => at(p).join(" ")).join("L") + "Z", fill: "none", stroke: "var(--ink)", "stroke-width": 2 }));
        points.forEach((point, i) => {
            const [x, y] = at(point), isTold = state.cells[i].value != null;
            const dot = element("circle", { cx: x, cy: y, r: isTold ? 6 : 4, fill: isTold ? "#f58742" : "var(--paper)", stroke: "var(--ink)", "stroke-width": 1.2 });
            dot.append(element("title", {}, name(i) + (isTold ? ` = ${digits(state.cells[i].value)}` : "")));
            svg.append(dot);
        });
        if (!wanted) {
            $("map-says").textContent = told.length ? "Every combination is told." : "Tell a first cost above: then the search has something to want.";
            return;
        }
        const [x, y] = at(wanted);
        if (nearest != null) {
            const [u, v] = at(points[nearest]);
            svg.append(element("path", { d: `M${x} ${y}L${u} ${v}`, stroke: "var(--ring)", "stroke-width": 2, "stroke-dasharray": "5 3" }), element("circle", { cx: u, cy: v, r: 10, fill: "none", stroke: "var(--ring)", "stroke-width": 3 }));
        }
        svg.append(element("path", { d: `M${x - 8} ${y - 8}L${x + 8} ${y + 8}M${x + 8} ${y - 8}L${x - 8} ${y + 8}`, stroke: "var(--ring)", "stroke-width": 3.5 }));
        $("map-says").textContent = `Outline: the polytope. Dots: combinations, orange if told. Colour: the acquisition, blue is wanted. Cross: the point that the search wants, x = (${wanted.map(digits).join(", ")}). Ring: the combination that CBO-Lookup takes, ${nearest == null ? "none" : name(nearest)}.`;
    }

    async function tell(value) {
        if (!Number.isFinite(value)) { say("Type a number as the cost."); return; }
        const index = chosen, shown = name(index);
        told = told.filter(([own]) => own !== index);
        told.push([index, value]);
        await update();
        say(`${shown} costs ${digits(value)}.`);
        // Walk on with the tuner's choice.
        if (state.next) choose(state.next.index);
    }

    // One after the other: a second click counts for the choice after the first.
    let queue = Promise.resolve();
    const then = (work) => { queue = queue.then(work); };
    $("tell").onclick = () => then(() => tell($("value").value === "" ? NaN : $("value").valueAsNumber));
    $("measure").onclick = () => then(() => tell(state.cells[chosen].example));
    $("undo").onclick = () => then(() => { const last = told.pop(); if (last) chosen = last[0]; return update(); });
    $("over").onclick = () => then(() => { told = []; return update(); });
    for (const id of ["map", "region", "map-seed"]) $(id).onchange = () => then(update);
    addEventListener("recolour", () => state && draw());
    then(async () => { await update(); if (state?.next) choose(state.next.index); });
}
