import FoundationEssentials
@testable import Engine
@testable import Core
import Testing

@Suite("Which build and which libraries made an artifact")
struct ProvenanceTests {
  private static let program = ProgramIdentity(
    version: "1.2.3", commit: nil,
    libraries: ["libpng": "1.6.48", "libavcodec": "61.3.100", "libxyz": "2", "libswscale": "8.3.0"])

  private func decision(
    recorded: [String: String], planned: [String: String],
    change: (inout FingerprintInputs) -> Void = { _ in }
  ) throws -> Decision {
    var made = FingerprintTests.fingerprintInputs()
    made.libraries = recorded
    var now = made
    now.libraries = planned
    change(&now)
    let record = try ArtifactRecord(
      stage: "color", ingredients: made, recorded: [:], outputs: [], started: "", finished: "",
      seconds: 0, cpuSeconds: 0, peakMemoryBytes: 0, frames: 0, warnings: [])
    // Read back: what is compared is what was written down.
    let bytes = try JSONText.pretty(record)
    let back = try JSONDecoder().decode(ArtifactRecord.self, from: Data(bytes))
    #expect(back == record && back.isSound)
    return Decision(
      published: PublishedArtifact(record: back, state: .intact), planned: now,
      upstream: ["frames": .artifact(Digest(of: "frames"))], isForced: false)
  }

  @Test(
    "Another version of a library that counts is another version of the stage, old and new are told",
    arguments: [
      (["libavcodec": "61.3.100"], ["libavcodec": "61.3.100"], nil),
      (
        ["libavcodec": "61.3.100", "libswscale": "8.3.0"],
        ["libavcodec": "61.19.101", "libswscale": "8.3.0"], ["libavcodec: 61.3.100 -> 61.19.101"]
      ),
      // Made by a build that did not count them.
      ([:], ["libavcodec": "61.3.100"], ["libavcodec: not recorded -> 61.3.100"]),
      (["libavcodec": "61.3.100"], [:], ["libavcodec: 61.3.100 -> not used"]),
      ([:], [:], nil),
    ] as [([String: String], [String: String], [String]?)])
  func libraries(
    _ recorded: [String: String], _ planned: [String: String], _ details: [String]?
  ) throws {
    let decision = try decision(recorded: recorded, planned: planned)
    #expect(decision.reason == (details == nil ? nil : .stageVersion))
    #expect(decision.details == details ?? [])
  }

  @Test("A library that another file does without is no other version: the file is the reason")
  func libraryOfAnotherFile() throws {
    let decision = try decision(recorded: ["libavcodec": "61.3.100"], planned: [:]) {
      $0.inputs.external["calibration"] = Digest(of: "another")
    }
    #expect(decision.reason == .inputChanged)
    #expect(decision.details.map { $0.prefix(12) } == ["calibration:"])
  }

  @Test("The version is alone on the first line, what it is made of below")
  func text() {
    #expect(
      Self.program.text(compiler: "6.3", processor: "arm64") == """
        1.2.3
        commit unknown
        Swift 6.3
        libavcodec 61.3.100
        libswscale 8.3.0
        libpng 1.6.48
        libxyz 2
        processor arm64
        """)
  }
}
