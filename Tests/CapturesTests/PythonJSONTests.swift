import FoundationEssentials
import TestSupport
import Testing

@testable import Captures

@Suite("JSON as Python writes it")
struct PythonJSONTests {
  @Test(
    "Bare words become numbers, the same words in a string stay",
    arguments: [
      (#"{"a":[1,NaN,-Infinity, Infinity]}"#, #"{"a":[1,"NaN","-Infinity", "Infinity"]}"#),
      (#"{"NaN":NaN}"#, #"{"NaN":"NaN"}"#),
      (#"["\"NaN",NaN]"#, #"["\"NaN","NaN"]"#),
      (#"[NaN"#, #"["NaN""#),
    ])
  func words(text: String, quoted: String) {
    #expect(PythonJSON.quoted(Data(text.utf8)) == Data(quoted.utf8))
  }

  @Test("A document without them is left alone", arguments: ["", "[1]", #"["NaN"]"#, #"["\"#])
  func none(text: String) {
    #expect(PythonJSON.quoted(Data(text.utf8)) == nil)
  }

  @Test("They are read as what they say")
  func decoded() throws {
    let quoted = try #require(PythonJSON.quoted(Data("[1,NaN,Infinity,-Infinity]".utf8)))
    let numbers = try PythonJSON.decoder().decode([Double].self, from: quoted)
    #expect(numbers[0] == 1)
    #expect(numbers[1].isNaN)
    #expect(numbers[2...] == [.infinity, -.infinity])
  }

  @Test("Bytes changed anywhere are read or refused, and never trap")
  func changedBytes() {
    let document = Data(
      #"{"frame_0":{"timestamp":1.25e-3,"pose":[[1,-2.5,NaN],[Infinity]],"nä\u00e9":"\"ü"},"b":null}"#
        .utf8)
    typealias Frames = [String: ARKitScannerRelease.Frame?]
    var random = SeededGenerator(seed: 23)
    var read = 0
    let rounds = 20_000
    for _ in 0..<rounds {
      var changed = document
      for _ in 0..<Int.random(in: 1...3, using: &random) {
        let offset = Int.random(in: 0..<changed.count, using: &random)
        changed[offset] = UInt8.random(in: 0...255, using: &random)
      }
      let quoted = PythonJSON.quoted(changed) ?? changed
      if (try? PythonJSON.decoder().decode(Frames.self, from: quoted)) != nil { read += 1 }
    }
    #expect((1..<rounds).contains(read))
  }
}
