import Foundation
@testable import Engine
@testable import Pages
@testable import Core
import SystemPackage
import TestSupport
import Testing

@Suite("Remedies as text")
struct RemedyTests {
  private func sentence(_ state: String, _ change: (inout Remedy) -> Void = { _ in }) -> String? {
    var remedy = Remedy(state: state)
    remedy.isWatched = true
    change(&remedy)
    return remedy.sentence
  }

  @Test("An unreadable stream: the file is named as people of the family name it")
  func input() {
    func words(_ family: String, _ message: String?, isWatched: Bool = true) -> String? {
      sentence("quarantined") {
        $0.cause = .input
        $0.family = family
        $0.message = message
        $0.isWatched = isWatched
      }
    }
    #expect(
      words("scannet", "/in/my scan/a.depth: record 3 is cut")
        == "Copy the .depth file again; it is picked up automatically.")
    #expect(
      words("scannet", "/in/my, scan/a.depth, record 0, byte 0: no whole frame (copy it again)")
        == "Copy the .depth file again; it is picked up automatically.")
    #expect(
      words("vi-slam", "imu_data.csv: no samples", isWatched: false)
        == "Copy the file 'imu_data.csv' again; then run it again.")
    #expect(
      words("scannet", "no reason was given")
        == "Copy the capture from the device again; it is picked up automatically.")
    #expect(words("scannet", nil)?.hasPrefix("Copy the capture") == true)
    let strict =
      "--strict: there are 2 kinds of warnings, 3 occurrences; run without it to accept them"
    #expect(words("scannet", strict)?.contains("without --strict") == true)
  }

  @Test("What cannot be done is not advised: a file in an archive, a table without a column")
  func possible() {
    func words(_ state: String, _ change: (inout Remedy) -> Void) -> String {
      sentence(state, change) ?? ""
    }
    func archive(_ remedy: inout Remedy) {
      (remedy.folder, remedy.isOneFile, remedy.family) = ("/in/X.r3d", true, "record3d")
      remedy.missing = ["rgbd/2.jpg"]
    }
    #expect(
      words("incomplete", archive)
        == "Copy 'X.r3d' from the device again: it lacks rgbd/2.jpg; it is picked up automatically."
    )
    #expect(
      words("done", archive)
        == "Copy 'X.r3d' from the device again: it lacks rgbd/2.jpg; it is picked up automatically."
    )
    func failed(_ cause: FailureCause, _ message: String) -> String {
      words("failed") {
        archive(&$0)
        ($0.cause, $0.message, $0.isWatched) = (cause, message, false)
      }
    }
    #expect(
      failed(.input, "rgbd/2.depth, byte 7: ends early")
        == "Copy the file 'X.r3d' again; then run it again.")
    #expect(
      failed(
        .input,
        "imu_data.csv, byte 0: no column `z` in the header of imu_data.csv (name the columns as the app does: a,b,z)"
      ) == "Name the columns as the app does: a,b,z; then run it again.")
    #expect(
      failed(.input, "a.mp4: cannot be used (avc3)")
        == "Copy the file 'X.r3d' again; then run it again.")
    #expect(
      failed(
        .program,
        "color: cannot be published: is not ours (move it away, or choose another --output)"
      ) == "Move it away, or choose another --output. Then run it again.")
    let killed = failed(
      .program,
      "its worker process was ended by SIGKILL (most likely for want of memory) while it ran color")
    #expect(killed.hasPrefix("The system killed it, most likely for want of memory: let fewer"))
    #expect(failed(.program, "x was ended by SIGSEGV").hasPrefix("A program crashed"))
    #expect(
      words("done") { $0.losses = ["imu: 3 % lost"] }
        .hasPrefix("Copy the capture from the device again")
    )
  }

  @Test("Every cause in every state that needs a person has a sentence; the others none")
  func all() {
    for cause in FailureCause.allCases {
      for state in ["failed", "quarantined"] {
        #expect(sentence(state) { $0.cause = cause }?.hasSuffix(".") == true)
        #expect(sentence(state) { $0.isGone = true }?.contains("Copy the capture again") == true)
      }
    }
    #expect(
      sentence("incomplete") { $0.missing = [".h264", ".imu"] }
        == "Copy the .h264 and .imu files from the device; it is picked up automatically.")
    #expect(
      sentence("incomplete") {
        $0.missing = [".imu"]
        $0.folder = "/in/a"
      } == "Copy the .imu file from the device to /in/a; it is picked up automatically.")
    #expect(
      sentence("done") {
        $0.missing = [".imu"]
        $0.folder = "/in/a"
        $0.isWatched = false
      }
        == "Copy the .imu file from the device to /in/a; then run it again."
    )
    for state in ["done", "arriving", "running", "queued"] {
      #expect(sentence(state) == nil, "\(state)")
    }
    #expect(sentence("queued") { $0.waitsFor = "disk" }?.contains("Free space") == true)
  }

  @Test("A command survives the shell, whatever a name holds")
  func shell() throws {
    let names = [
      "plain", "two words", "it's", "$(touch x)", "a\nb", "`id`", "\\", "-n", "Küche",
      "\u{202E}abc",
      "\u{1B}[31m", "", "*", "7\u{7}7", PathText.text(of: [0x61, 0xFF, 0x62]), "!x", "~", "#",
    ]
    for name in names {
      let words = ["-c", "printf '%s' " + ShellText.quoted(name)]
      let output = try PythonScript.run("/bin/bash", words, nil, nil).outputBytes
      #expect(Array(output) == PathText.bytes(of: name), "\(name.onOneLine)")
      #expect(ShellText.quoted(name).onOneLine == ShellText.quoted(name))
    }
  }
}
