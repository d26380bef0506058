//! A browser that is controlled over a pipe: the only way to be a telephone, with its width,
//! its pixels and its finger, and not a narrow window.
//!
//! Words of the DevTools protocol, JSON with a zero byte behind each, go to descriptor 3 of the
//! browser and come from its descriptor 4.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Browser;

/// The browser's standard input and output are its descriptors 3 and 4; it ends whatever happens.
const SCRIPT: &str = "exec timeout 120 \"$0\" \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1";
/// How long a page may take until it is there.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a page is shown on.
#[derive(Clone, Copy)]
pub(super) struct Screen {
    /// In CSS pixels.
    pub(super) width: u32,
    /// Whether it is touched, and has three pixels for each of CSS.
    pub(super) mobile: bool,
    pub(super) dark: bool,
}

/// A browser with one page.
pub(super) struct Devtools {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    last: u64,
    session: Option<String>,
    /// What pages complained of.
    pub(super) complaints: Vec<String>,
}

impl Devtools {
    pub(super) fn start(browser: &Browser) -> Self {
        let profile = browser.folder.path().join("devtools");
        let mut child = Command::new("sh")
            .env("FONTCONFIG_FILE", &browser.font_configuration)
            .args(["-c", SCRIPT])
            .arg(&browser.program)
            .args(["--headless", "--no-sandbox", "--disable-gpu"])
            .args(["--disable-quic", "--no-first-run", "--disable-sync"])
            .args(["--disable-background-networking", "--hide-scrollbars"])
            .args(["--disable-component-update", "--disable-dev-shm-usage"])
            .args(["--remote-debugging-pipe", "about:blank"])
            .arg(format!("--user-data-dir={}", profile.display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the browser starts");
        let input = child.stdin.take().expect("a pipe");
        let output = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut browser = Self {
            child,
            input,
            output,
            last: 0,
            session: None,
            complaints: Vec::new(),
        };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attached = browser.call(
            "Target.attachToTarget",
            &json!({ "targetId": target["targetId"], "flatten": true }),
        );
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for part in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{part}.enable"), &json!({}));
        }
        browser
    }

    /// Opens a page and waits until its tables have their controls.
    pub(super) fn open(&mut self, page: &Path, screen: Screen) {
        let Screen {
            width,
            mobile,
            dark,
        } = screen;
        let metrics = json!({
            "width": width, "height": 640, "mobile": mobile,
            "deviceScaleFactor": if mobile { 3 } else { 1 },
        });
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
        let touch = json!({ "enabled": mobile });
        self.call("Emulation.setTouchEmulationEnabled", &touch);
        let value = if dark { "dark" } else { "light" };
        let features = json!([{ "name": "prefers-color-scheme", "value": value }]);
        self.call(
            "Emulation.setEmulatedMedia",
            &json!({ "features": features }),
        );
        let address = format!("file://{}", page.display());
        self.call("Page.navigate", &json!({ "url": address }));
        let is_there = "document.readyState === 'complete' && !!document.querySelector('.copy') \
                        && !document.querySelector('figure.table:not(:has(.copy))')";
        let begin = Instant::now();
        while self.ask(is_there) != json!(true) {
            assert!(begin.elapsed() < PATIENCE, "the page is never ready");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Lays the page out as on a sheet of paper of that size, without its margins.
    pub(super) fn on_paper(&mut self, (width, height): (u32, u32)) {
        let metrics = json!({
            "width": width, "height": height, "mobile": false, "deviceScaleFactor": 1,
        });
        self.call("Emulation.setDeviceMetricsOverride", &metrics);
        let media = json!({ "media": "print", "features": [] });
        self.call("Emulation.setEmulatedMedia", &media);
    }

    /// The families in which the letters of the first element of `selector` are drawn.
    pub(super) fn families(&mut self, selector: &str) -> Vec<String> {
        for part in ["DOM", "CSS"] {
            self.call(&format!("{part}.enable"), &json!({}));
        }
        let root = self.call("DOM.getDocument", &json!({}));
        let asked = json!({ "nodeId": root["root"]["nodeId"], "selector": selector });
        let node = self.call("DOM.querySelector", &asked);
        let asked = json!({ "nodeId": node["nodeId"] });
        let found = self.call("CSS.getPlatformFontsForNode", &asked);
        let fonts = found["fonts"].as_array().expect("fonts").iter();
        fonts
            .map(|font| font["familyName"].as_str().expect("a family").to_owned())
            .collect()
    }

    /// The value of an expression in the page, or of its promise.
    pub(super) fn ask(&mut self, expression: &str) -> Value {
        let words = json!({
            "expression": expression, "returnByValue": true, "awaitPromise": true,
        });
        let answer = self.call("Runtime.evaluate", &words);
        let thrown = &answer["exceptionDetails"];
        assert!(thrown.is_null(), "the page throws {thrown}");
        answer["result"]["value"].clone()
    }

    /// Touches the screen, or clicks where there is no finger.
    pub(super) fn tap(&mut self, x: f64, y: f64) {
        let points = json!([{ "x": x, "y": y }]);
        let start = json!({ "type": "touchStart", "touchPoints": points });
        self.call("Input.dispatchTouchEvent", &start);
        let end = json!({ "type": "touchEnd", "touchPoints": [] });
        self.call("Input.dispatchTouchEvent", &end);
    }

    fn call(&mut self, method: &str, params: &Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.input.write_all(&bytes).expect("the browser listens");
        self.input.flush().expect("the browser listens");
        loop {
            let answer = self.next();
            if answer["id"] == json!(self.last) {
                assert!(answer["error"].is_null(), "{method}: {}", answer["error"]);
                return answer["result"].clone();
            }
            self.note(&answer);
        }
    }

    fn next(&mut self) -> Value {
        let mut bytes = Vec::new();
        let read = self.output.read_until(0, &mut bytes);
        read.expect("the browser speaks");
        assert_eq!(bytes.pop(), Some(0), "the browser has ended");
        serde_json::from_slice(&bytes).expect("JSON")
    }

    fn note(&mut self, event: &Value) {
        let params = &event["params"];
        let is_bad = match event["method"].as_str() {
            Some("Runtime.exceptionThrown") => true,
            Some("Runtime.consoleAPICalled") => params["type"] == "error",
            Some("Log.entryAdded") => params["entry"]["level"] == "error",
            _ => false,
        };
        if is_bad {
            self.complaints.push(params.to_string());
        }
    }
}

impl Drop for Devtools {
    fn drop(&mut self) {
        // It ends when its pipe is closed; a reaped child leaves nothing behind.
        let close = json!({ "id": self.last + 1, "method": "Browser.close" });
        let _ = self.input.write_all(format!("{close}\0").as_bytes());
        let _ = self.input.flush();
        let _ = self.child.wait();
    }
}
