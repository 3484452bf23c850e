import Foundation
import Logging
import Synchronization
import Testing

@testable import Engine
@testable import Watch

@Suite("Log lines of a service")
struct LogLineHandlerTests {
  private final class Lines: Sendable {
    let all = Mutex<[String]>([])
    func logger(_ style: LogLineHandler.Style) -> Logger {
      var logger = Logger(label: "scanmill") { _ in
        LogLineHandler(
          style, time: { "2026-11-20T22:00:00.000Z" },
          write: { line in self.all.withLock { $0.append(line) } })
      }
      logger.logLevel = .trace
      return logger
    }
  }

  @Test(
    "have the priority that the journal knows",
    arguments: [
      (Logger.Level.critical, "<3>"), (.error, "<3>"), (.warning, "<4>"), (.notice, "<5>"),
      (.info, "<6>"), (.debug, "<7>"), (.trace, "<7>"),
    ])
  func priorities(level: Logger.Level, prefix: String) {
    let lines = Lines()
    lines.logger(.journal).log(level: level, "queued", metadata: ["capture": "a b", "frames": "3"])
    #expect(lines.all.withLock { $0 } == ["\(prefix)queued capture=\"a b\" frames=3\n"])
  }

  @Test("have time and level where nobody else tells them")
  func plain() {
    let lines = Lines()
    lines.logger(.plain).warning("disk full")
    #expect(lines.all.withLock { $0 } == ["2026-11-20T22:00:00.000Z warning: disk full\n"])
  }

  @Test("as JSON hold nothing raw that a terminal would interpret, in keys neither")
  func json() throws {
    let odd = "a\u{9B}b\u{202E}c\u{2028}d\u{1B}[2Je\u{7F}"
    let handler = LogLineHandler(.json, time: { "now" }, write: { _ in })
    let line = handler.line(.warning, odd, ["note.unknown-key.\(odd)": "\(odd)"])
    #expect(line.hasSuffix("}\n"))
    for scalar in line.dropLast().unicodeScalars {
      #expect(scalar.isASCII && scalar.value >= 0x20 && scalar.value != 0x7F)
    }
    let fields = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String]
    #expect(
      fields == [
        "level": "warning", "message": odd, "note.unknown-key.\(odd)": odd, "time": "now",
      ])
  }

  @Test("are one line each, and no name can forge another or its priority")
  func hostile() {
    let lines = Lines()
    lines.logger(.journal).info(
      "done\n<3>forged\r\u{1B}[31m", metadata: ["id\n": "x\n<0>y", "empty": "", "q": "\"="])
    #expect(
      lines.all.withLock { $0 } == [
        "<6>done\\u{A}<3>forged\\u{D}\\u{1B}[31m empty=\"\" id\\u{A}=x\\u{A}<0>y q=\"\\\"=\"\n"
      ])
  }

  @Test("go to the journal only when standard error is the one that the environment names")
  func stream() throws {
    let pipe = Pipe()
    let descriptor = pipe.fileHandleForWriting.fileDescriptor
    var status = stat()
    try #require(fstat(descriptor, &status) == 0)
    func isJournal(_ stream: String?, _ descriptor: Int32) -> Bool {
      let environment = stream.map { ["JOURNAL_STREAM": $0] } ?? [:]
      return LogLineHandler.style(environment: environment, descriptor: descriptor) == .journal
    }
    let name = "\(status.st_dev):\(status.st_ino)"
    #expect(isJournal(name, descriptor))
    #expect(!isJournal(nil, descriptor))
    #expect(!isJournal("", descriptor))
    #expect(!isJournal("\(status.st_dev):\(status.st_ino + 1)", descriptor))
    #expect(!isJournal(name, -1))
  }
}
