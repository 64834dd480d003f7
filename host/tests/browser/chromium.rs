//! A real browser, driven by its DevTools protocol over a pipe.
//!
//! `--remote-debugging-pipe` reads commands from descriptor 3 and writes answers to 4,
//! JSON with a zero byte after each. A shell puts our two pipes there, so neither a web socket nor
//! a driver has to be installed. Console messages, exceptions and requests of the page are kept.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// Longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct Chromium {
    child: Child,
    commands: ChildStdin,
    answers: Receiver<Value>,
    profile: PathBuf,
    session: String,
    last: u64,
    /// Console messages, exceptions, log entries and requests since the last page was opened.
    complaints: Vec<String>,
}

impl Chromium {
    /// Starts a browser whose profile is below a folder.
    pub(crate) fn start(folder: &Path) -> Self {
        let program = std::env::var("CHROMIUM").unwrap_or_else(|_| "chromium".into());
        let profile = folder.join("profile");
        let mut child = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh", &program])
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--hide-scrollbars",
            ])
            .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
            .args(["--disable-dev-shm-usage", "--remote-debugging-pipe"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (commands, answers) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            let messages = BufReader::new(answers).split(0).map_while(Result::ok);
            for message in messages {
                if sender.send(serde_json::from_slice(&message).unwrap_or_default()).is_err() {
                    break;
                }
            }
        });
        let mut browser = Self {
            child,
            commands,
            answers: receiver,
            profile,
            session: String::new(),
            last: 0,
            complaints: Vec::new(),
        };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        browser.session = attached["sessionId"].as_str().unwrap().into();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Calls a method of the protocol and waits for its result.
    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.last += 1;
        let id = self.last;
        let mut command = json!({"id": id, "method": method, "params": parameters});
        if !self.session.is_empty() {
            command["sessionId"] = self.session.as_str().into();
        }
        self.commands
            .write_all(format!("{command}\0").as_bytes())
            .expect("the browser is gone; is chromium installed?");
        let answer = self.wait(|message| message["id"] == id);
        assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
        answer["result"].clone()
    }

    /// Reads messages until the wanted one, and keeps the complaints among the others.
    fn wait(&mut self, is_wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let message =
                self.answers.recv_timeout(PATIENCE).expect("no answer from the browser; is chromium installed?");
            let parameters = &message["params"];
            match message["method"].as_str() {
                Some("Runtime.consoleAPICalled") => self.complaints.push(format!("console: {}", parameters["args"])),
                Some("Runtime.exceptionThrown") => {
                    self.complaints.push(format!("thrown: {}", parameters["exceptionDetails"]));
                }
                Some("Log.entryAdded") => self.complaints.push(format!("log: {}", parameters["entry"])),
                Some("Network.requestWillBeSent") => {
                    let url = parameters["request"]["url"].as_str().unwrap_or_default();
                    if !["file:", "data:", "blob:"].iter().any(|scheme| url.starts_with(scheme)) {
                        self.complaints.push(format!("request: {url}"));
                    }
                }
                _ => {}
            }
            if is_wanted(&message) {
                return message;
            }
        }
    }

    /// Opens a file and waits until it has loaded.
    pub(crate) fn open(&mut self, path: &Path) {
        self.complaints.clear();
        let url = format!("file://{}", path.canonicalize().unwrap().display());
        self.call("Page.navigate", json!({"url": url}));
        self.wait(|message| message["method"] == "Page.loadEventFired");
    }

    /// Evaluates an expression in the page.
    pub(crate) fn value(&mut self, expression: &str) -> Value {
        let given = json!({"expression": expression, "returnByValue": true, "awaitPromise": true});
        let answer = self.call("Runtime.evaluate", given);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {}", answer["exceptionDetails"]);
        answer["result"]["value"].clone()
    }

    /// Clicks with the mouse on the middle of the first element of a selector.
    pub(crate) fn click(&mut self, selector: &str) {
        let script = format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{block: 'center', inline: \
             'center'}}); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        );
        let at = self.value(&script);
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event);
        }
        // Move away, so that the pointer is over nothing.
        self.call("Input.dispatchMouseEvent", json!({"type": "mouseMoved", "x": 1, "y": 1}));
    }

    /// Presses a key on the focused element.
    pub(crate) fn press_enter(&mut self) {
        for kind in ["keyDown", "keyUp"] {
            let event =
                json!({"type": kind, "key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 13, "text": "\r"});
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Presses a key that types nothing, such as Tab or ArrowLeft.
    pub(crate) fn press(&mut self, key: &str, code: u32) {
        for kind in ["rawKeyDown", "keyUp"] {
            let event = json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            self.call("Input.dispatchKeyEvent", event);
        }
    }

    /// Chooses a file in an input.
    pub(crate) fn choose(&mut self, selector: &str, file: &Path) {
        let root = self.call("DOM.getDocument", json!({}))["root"]["nodeId"].clone();
        let node = self.call("DOM.querySelector", json!({"nodeId": root, "selector": selector}))["nodeId"].clone();
        let file = file.canonicalize().unwrap();
        self.call("DOM.setFileInputFiles", json!({"nodeId": node, "files": [file]}));
    }

    /// A screen of this width in pixels, light or dark.
    pub(crate) fn screen(&mut self, width: u32, is_dark: bool) {
        self.calm_screen(width, is_dark, false);
    }

    /// The same for a visitor who may want little motion.
    pub(crate) fn calm_screen(&mut self, width: u32, is_dark: bool, is_calm: bool) {
        let height = if width < 600 { 844 } else { 900 };
        let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600});
        self.call("Emulation.setDeviceMetricsOverride", metrics);
        let scheme = if is_dark { "dark" } else { "light" };
        let motion = if is_calm { "reduce" } else { "no-preference" };
        let features = json!([
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": motion},
        ]);
        self.call("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Returns the complaints of the page since it was opened.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        // Every earlier message has arrived by now.
        self.value("0");
        std::mem::take(&mut self.complaints)
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
