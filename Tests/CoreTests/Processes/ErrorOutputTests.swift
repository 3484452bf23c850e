@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Standard error that may have no reader")
struct ErrorOutputTests {
  @Test(
    "Nobody who writes waits for a reader; what is lost is counted, and told where it is missing")
  func withoutReader() throws {
    let pipe = try Pipe()
    let output = ErrorOutput(pipe.writing.rawValue)
    output.tellDropped { "\($0) dropped\n" }
    let line = [UInt8](repeating: UInt8(ascii: "x"), count: 1023)
    let count = 3 * ErrorOutput.mostBytes / (line.count + 1)
    for _ in 0..<count { output.write(line + [UInt8(ascii: "\n")]) }
    #expect(!output.flush(withinSeconds: 0.01))
    // Nothing has moved since: not waited for again.
    #expect(!output.flush(withinSeconds: 1e9))
    var lines = LineReader(pipe.reading)
    var whole = 0
    var told: [UInt8]?
    while told == nil, let next = lines.next() {
      if next == line { whole += 1 } else { told = next }
    }
    #expect(whole * (line.count + 1) >= ErrorOutput.mostBytes - line.count)
    #expect(told == Array("\(count - whole) dropped".utf8))
    output.write(Array("later\n".utf8))
    #expect(lines.next() == Array("later".utf8))
    #expect(output.flush(withinSeconds: 600))
  }

  @Test("Lines of several threads come whole, and those of one in their order")
  func order() async throws {
    let pipe = try Pipe()
    let output = ErrorOutput(pipe.writing.rawValue)
    let (writers, each) = (4, 200)
    await withTaskGroup { group in
      for writer in 0..<writers {
        group.addTask {
          for number in 0..<each { output.write(Array("\(writer) \(number) of \(each)\n".utf8)) }
        }
      }
    }
    var next = [Int](repeating: 0, count: writers)
    var lines = LineReader(pipe.reading)
    for _ in 0..<writers * each {
      let line = lines.next()
      let text = String(decoding: try #require(line), as: UTF8.self)
      let words = text.split(separator: " ")
      let writer = try #require(words.first.flatMap { Int($0) })
      #expect(text == "\(writer) \(next[writer]) of \(each)")
      next[writer] += 1
    }
    #expect(output.flush(withinSeconds: 600))
  }

  @Test("The words of a process are those that the system gave to it")
  func arguments() { #expect(ProgramStart.arguments == CommandLine.arguments) }
}
