import Foundation
@testable import Core
import SystemPackage
import TestSupport
import Testing

@testable import Engine
@testable import Watch

@Suite("The command of --notify")
struct NotificationTests {
  private let folder: TemporaryFolder
  private let log: LogFile

  init() throws {
    folder = try TemporaryFolder()
    log = LogFile(folder.path.appending("notify.log"))
  }

  private var place: String { "; what it printed is in \(log.path)" }

  private func text(_ name: String) throws -> String {
    try folder.path.appending(name).text()
  }

  private func hasText(_ name: String) -> Bool {
    (try? text(name))?.contains(where: \.isNumber) ?? false
  }

  private func send(
    _ command: String, _ json: String = "{}", page: FilePath? = "/x/index.html",
    _ change: (inout Watch.Notification) -> Void = { _ in },
    keepWaiting: () -> Bool = { true }
  ) -> String? {
    var notification = Watch.Notification(command)
    change(&notification)
    return notification.send(Array(json.utf8), page: page, log: log, keepWaiting: keepWaiting)
  }

  @Test("reads the report, knows the page, and what it prints is in the log")
  func told() throws {
    let json = #"{"schema":1,"name":"ä '\" $HOME"}"#
    #expect(send("cat > \(folder.path)/in; echo \"$SCANMILL_PAGE\"; echo no >&2", json) == nil)
    #expect(try text("in") == json)
    #expect(try text("notify.log") == "/x/index.html\nno\n")
  }

  @Test("need not read: a large report hangs nobody", arguments: ["true", "head -c 1", "exec <&-"])
  func unread(command: String) {
    #expect(send(command, String(repeating: "x", count: 5_000_000)) == nil)
  }

  @Test(
    "fails with a message and nothing else",
    arguments: [
      ("exit 3", "exited with code 3"), ("kill -SEGV $$", "was ended by SIGSEGV"),
      ("no-such-program-9", "exited with code 127"), ("(", "exited with code 2"),
    ])
  func failed(command: String, phrase: String) {
    #expect(send(command) == "--notify: the command \(phrase)\(place)")
  }

  @Test("A log that cannot be written is a message as well")
  func noLog() {
    let log = LogFile("/dev/null/none/notify.log")
    #expect(Watch.Notification("true").send([], page: nil, log: log) != nil)
  }

  @Test("is ended after its time, with all that it has started")
  func slow() throws {
    let pids = folder.path.appending("pids")
    // On a busy machine it takes a while until there is something to be ended.
    var seconds = 0.5
    while !FileSystem.exists(pids) {
      let message = send(
        "sleep 600 & echo $! > \(pids).new; mv \(pids).new \(pids); trap '' TERM; sleep 601"
      ) {
        $0.limitSeconds = seconds
      }
      let time = Int(seconds.rounded(.up))
      #expect(message == "--notify: the command was stopped after \(time) s\(place)")
      seconds *= 2
    }
    let pid = try #require(
      pid_t(try text("pids").trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(Self.isGone(pid))
  }

  @Test("ends when the program ends")
  func interrupted() {
    #expect(
      send("sleep 600", keepWaiting: { false })
        == "--notify: the command was stopped because the watcher is ending\(place)")
  }

  @Test("What it leaves in the background ends with it")
  func background() throws {
    #expect(send("sleep 600 & echo $! > \(folder.path)/pids") == nil)
    let pid = try #require(
      pid_t(try text("pids").trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(Self.isGone(pid))
  }

  @Test(
    "What makes itself a daemon ends with it, however it leaves",
    arguments: [
      "setsid sh -c 'echo $$ > PIDS; exec sleep 600' &",
      "(setsid sh -c 'setsid sh -c \"echo \\$\\$ > PIDS; exec sleep 600\" & sleep 600' &) &",
    ], [0.0, 0.5])
  func daemon(command: String, limit: Double) throws {
    let pids = folder.path.appending("pids")
    let start = command.replacing("PIDS", with: pids.string)
    let wait = "until test -s \(pids); do sleep 0.01; done"
    if limit == 0 {
      #expect(send("\(start)\n\(wait)") == nil)
    } else {
      // Until the daemon was there in time.
      var seconds = 2.0
      repeat {
        let message = send("\(start)\n\(wait); sleep 600") { $0.limitSeconds = seconds }
        #expect(message == "--notify: the command was stopped after \(Int(seconds)) s\(place)")
        seconds *= 2
      } while !hasText("pids")
    }
    let pid = try #require(
      pid_t(try text("pids").trimmingCharacters(in: .whitespacesAndNewlines)))
    #expect(Self.isGone(pid))
  }

  @Test("What it prints beyond the limit is cut, and the log says so")
  func cut() throws {
    #expect(
      send("head -c 200000 /dev/zero | tr '\\0' x") { $0.limitLogBytes = 1 << 16 }.map {
        $0.hasSuffix("printed more than 64 KiB\(place)")
      } != false)
    let log = try text("notify.log")
    #expect(log.hasSuffix("x\n[cut: the command printed more than 64 KiB]\n"))
    #expect(log.utf8.prefix { $0 == UInt8(ascii: "x") }.count == 1 << 16)
  }

  @Test("cannot fill the disk with what it prints")
  func loud() throws {
    let message = send("yes") { $0.limitLogBytes = 1 << 16 }
    #expect(
      message == "--notify: the command was stopped because it printed more than 64 KiB\(place)")
    #expect(send("echo new") { $0.limitLogBytes = 1 << 16 } == nil)
    #expect(try text("notify.log") == "new\n")
  }

  @Test("has the variables of this process but those of its service manager")
  func environment() async throws {
    await #expect(processExitsWith: .success) {
      setenv("NOTIFY_SOCKET", "/nowhere", 1)
      setenv("SCANMILL_SECRET_FILE", "kept", 1)
      let folder = try TemporaryFolder()
      let log = LogFile(folder.path.appending("log"))
      let message = Watch.Notification(
        "test -z \"$NOTIFY_SOCKET$SCANMILL_PAGE\" && test \"$SCANMILL_SECRET_FILE\" = kept"
      ).send([], page: nil, log: log)
      exit(message == nil ? 0 : 1)
    }
  }

  /// Gone, or a zombie that whoever takes care of orphans has not seen yet.
  private static func isGone(_ id: pid_t) -> Bool {
    Waiting.until("the end of process \(id)") {
      let stat = try? String(contentsOfFile: "/proc/\(id)/stat", encoding: .utf8)
      return stat?.contains(") Z ") ?? true
    }
  }
}
