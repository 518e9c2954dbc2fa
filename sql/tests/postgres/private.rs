//! A PostgreSQL server of a test's own.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use postgres::{Client, NoTls};
use tabsegnet_test_support::skipped;

pub const PASSWORD: &str = "s3cret-passw0rd";

/// A server of this test's own; it ends when this goes.
pub struct Private {
    folder: tempfile::TempDir,
    programs: PathBuf,
    port: u16,
    as_user: bool,
}

/// The folder of Debian's newest `initdb` and `pg_ctl`, else that of the `PATH`.
fn programs() -> Option<PathBuf> {
    let mut versions: Vec<PathBuf> =
        std::fs::read_dir("/usr/lib/postgresql").ok()?.flatten().map(|entry| entry.path().join("bin")).collect();
    versions.sort();
    versions.into_iter().rev().find(|folder| folder.join("initdb").is_file())
}

impl Private {
    pub fn start(test: &str) -> Option<Self> {
        let Some(programs) = programs() else {
            skipped(test, "PostgreSQL is not installed (Debian: apt-get install postgresql)");
            return None;
        };
        let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
        let folder = tempfile::Builder::new().prefix("pg").tempdir().unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Self { folder, programs, port, as_user: root };
        if root {
            // The server does not run as root.
            let owned = Command::new("chown").arg("nobody").arg(server.folder.path()).status();
            assert!(owned.is_ok_and(|status| status.success()));
        }
        std::fs::write(server.folder.path().join("password"), PASSWORD).unwrap();
        let folder = server.folder.path().to_str().unwrap().to_owned();
        server.call(
            "initdb",
            &[
                "-D",
                &format!("{folder}/data"),
                "-U",
                "owner",
                "-A",
                "scram-sha-256",
                "--no-sync",
                "--pwfile",
                &format!("{folder}/password"),
            ],
        );
        server.begin();
        Some(server)
    }

    pub fn begin(&self) {
        let folder = self.folder.path().to_str().unwrap();
        let options = format!("-p {} -h 127.0.0.1 -k {folder} -F -c shared_buffers=16MB", self.port);
        self.call(
            "pg_ctl",
            &["start", "-w", "-D", &format!("{folder}/data"), "-l", &format!("{folder}/log"), "-o", &options],
        );
    }

    pub fn stop(&self) {
        let data = self.folder.path().join("data");
        self.call("pg_ctl", &["stop", "-m", "immediate", "-D", data.to_str().unwrap()]);
    }

    fn call(&self, program: &str, arguments: &[&str]) {
        let program = self.programs.join(program);
        let mut command = if self.as_user {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(&program);
            command
        } else {
            Command::new(&program)
        };
        let log = std::fs::File::create(std::env::temp_dir().join(format!("pg-test-{}.log", self.port))).unwrap();
        let status = command
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .current_dir("/")
            .status();
        assert!(status.is_ok_and(|status| status.success()), "{} {arguments:?}", program.display());
    }

    pub fn url(&self, user: &str, password: &str) -> String {
        format!("postgres://{user}:{password}@127.0.0.1:{}/postgres", self.port)
    }

    pub fn owner(&self) -> Client {
        Client::connect(&self.url("owner", PASSWORD), NoTls).unwrap()
    }
}

impl Drop for Private {
    fn drop(&mut self) {
        let data = self.folder.path().join("data");
        let mut command = Command::new(self.programs.join("pg_ctl"));
        if self.as_user {
            command = Command::new("setpriv");
            command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(self.programs.join("pg_ctl"));
        }
        let _ = command
            .args(["stop", "-m", "immediate", "-D"])
            .arg(data)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        let _ = std::fs::remove_file(std::env::temp_dir().join(format!("pg-test-{}.log", self.port)));
    }
}
