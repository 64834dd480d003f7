// The comparison with the chip, and logs that are dropped on the page.
"use strict";
{
    const cell = (kind, text) => Object.assign(document.createElement(kind), { textContent: text });
    const row = (kind, texts) => { const made = document.createElement("tr"); made.append(...texts.map((text) => cell(kind, text))); return made; };

    $("compare").onclick = async () => {
        const [box, button] = [$("compared"), $("compare")];
        button.disabled = true;
        say("Repeating the chip's run…");
        try {
            const answer = await tuner.call("bits", "bits_compare", [], { anew: true });
            const table = document.createElement("table"), head = document.createElement("thead"), body = document.createElement("tbody");
            head.append(row("th", ["", "chip: levels, bits of mean, deviation, score and outcome", "this page", ""]));
            answer.rows.forEach((one, i) => body.append(row("td", [i + 1, one.chip, one.here, one.same ? "same" : "DIFFERENT"])));
            table.append(head, body);
            const equal = answer.chip === answer.here;
            const text = `${answer.same} of ${answer.proposals} proposals are the same to the bit; the ${answer.bytes} bytes of both streams are ${equal ? "equal" : "not equal"}: ${answer.here}.`;
            box.replaceChildren(table);
            box.hidden = false;
            $("agreement").textContent = text;
            say(text);
        } catch (error) {
            say(error.message);
        }
        button.disabled = false;
    };

    // The report in a frame of its own, without scripts: nothing in a log can become code of this page.
    function showTuned(name, { run, best, lines, differs, report }, box) {
        const frame = document.createElement("iframe");
        frame.title = `Report of ${name}`;
        frame.sandbox = "allow-same-origin";
        frame.srcdoc = report;
        frame.onload = () => {
            // As tall as the report, so the page scrolls and not the frame. Its menu and its link to this page go.
            const inner = frame.contentDocument, main = inner.querySelector("main");
            inner.querySelectorAll("aside, main > p.note:last-child").forEach((one) => one.remove());
            inner.body.style.display = "block";
            const fit = () => { frame.style.height = Math.ceil(main.getBoundingClientRect().height) + 2 + "px"; };
            fit();
            new ResizeObserver(fit).observe(main);
        };
        const checks = lines.map((line) => Object.assign(cell("p", line), { className: differs ? "error" : "" }));
        box.replaceChildren(cell("h3", `${name}: ${run}`), cell("p", "Best " + best), ...checks, frame);
        say(`${name}: ${lines.join("; ")}.`);
    }

    async function replay(name, call, bytes) {
        const box = $("replayed");
        box.replaceChildren(cell("p", "Replaying…"));
        try {
            const answer = await tuner.call("replay", call, [], { bytes, anew: true });
            box.replaceChildren(...answer.runs.flatMap((run, i) => {
                const title = cell("h3", `Run ${i + 1}: ${run.name}, ${run.measured} measured, ${run.failures} failed${run.seed ? ", seed " + run.seed : ""}`);
                const best = run.best ? [cell("p", `Best ${Number(run.best.value.toPrecision(4))} at measurement ${run.best.number}: ${run.best.levels}`)] : [];
                const lines = run.lines.map((line) => cell("p", line));
                if (run.differs) lines.forEach((line) => line.classList.add("error"));
                // As an image: its style sheet stays its own, and nothing in a knob's name can become code.
                const picture = document.createElement("img");
                if (run.picture) picture.src = "data:image/svg+xml," + encodeURIComponent(run.picture);
                picture.alt = `Picture of run ${i + 1}: the best so far, and the level of each knob`;
                return [title, ...best, ...lines, ...(run.picture ? [picture] : [])];
            }));
            if (answer.tuned) { showTuned(name, answer.tuned, box); return; }
            if (answer.garbled) box.prepend(cell("p", `${answer.garbled} times there was garbage between frames; it was left out.`));
            say(`${name}: ${answer.runs.map((run) => run.lines[0]).join("; ")}.`);
        } catch (error) {
            const message = cell("p", `${name}: ${error.message}`);
            message.className = "error";
            box.replaceChildren(message);
            say(message.textContent);
        }
    }

    const read = async (file) => replay(file.name, "replay_input", new Uint8Array(await file.arrayBuffer()));
    const drop = $("drop");
    $("file").onchange = () => { if ($("file").files[0]) read($("file").files[0]); };
    $("example").onclick = () => replay("the chip's log", "replay_chip");
    drop.ondragover = (event) => { event.preventDefault(); drop.classList.add("over"); };
    drop.ondragleave = () => drop.classList.remove("over");
    drop.ondrop = (event) => {
        event.preventDefault();
        drop.classList.remove("over");
        if (event.dataTransfer.files[0]) read(event.dataTransfer.files[0]);
    };
}
