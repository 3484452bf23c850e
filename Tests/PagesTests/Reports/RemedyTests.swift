@testable import Captures
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

  private func failed(
    _ cause: FailureCause?, _ detail: FailureDetail? = nil, state: String = "failed",
    _ change: (inout Remedy) -> Void = { _ in }
  ) -> String {
    sentence(state) {
      $0.failure = Failure(
        message: "words that decide nothing: memory, SIGKILL", cause: cause, detail: detail)
      $0.isWatched = false
      change(&$0)
    } ?? ""
  }

  @Test(
    "A damaged file is named as people of the family name it, and what corrects it comes before another copy"
  )
  func input() {
    func words(_ family: String, _ detail: FailureDetail?, isWatched: Bool = true) -> String {
      failed(.input, detail, state: "quarantined") {
        ($0.family, $0.isWatched) = (family, isWatched)
      }
    }
    #expect(
      words("scannet", FailureDetail(.damaged, file: "a.depth"))
        == "Copy the .depth file again; watch then takes it.")
    #expect(
      words("vi-slam", FailureDetail(.damaged, file: "imu_data.csv"), isWatched: false)
        == "Copy the file 'imu_data.csv' again; then run it again.")
    #expect(
      words(
        "vi-slam", FailureDetail(.damaged, file: "imu_data.csv", remedy: "name the columns: a,z"))
        == "Name the columns: a,z; watch then takes it.")
    for detail in [FailureDetail(.damaged), nil] {
      #expect(
        words("scannet", detail)
          == "Copy the capture from the device again; watch then takes it.")
    }
    #expect(words("scannet", FailureDetail(.strict)).contains("without --strict"))
    let unsuitable = words("scannet", FailureDetail(.unsuitable))
    // What an earlier run set holds: leaving it out changes nothing.
    #expect(!unsuitable.contains("Copy") && unsuitable.contains("=default"))
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
        == "Copy 'X.r3d' from the device again: it lacks rgbd/2.jpg; watch then takes it."
    )
    #expect(
      words("done", archive)
        == "Copy 'X.r3d' from the device again: it lacks rgbd/2.jpg; watch then takes it."
    )
    let many = words("done") {
      archive(&$0)
      $0.missing = (1...3000).map { "rgbd/\($0).jpg" }
    }
    #expect(many.contains("rgbd/8.jpg and 2992 more; watch"), "\(many)")
    #expect(
      failed(.input, FailureDetail(.damaged, file: "2.depth"), archive)
        == "Copy the file 'X.r3d' again; then run it again.")
    #expect(
      words("done") { $0.code = .shortfall }
        .hasPrefix("Copy the capture from the device again")
    )
    // Nothing of what lies on another clock was lost.
    let lost = Shortfall(stream: "imu", held: 0, declared: 9, message: "0 of 9")
    for (outside, helps) in [(9, "`imu.timeOffset`"), (8, "Copy the capture")] {
      let warning = CaptureWarning(.imuOutsideFrames, "imu", count: outside, "outside")
      let told = words("done") {
        ($0.code, $0.shortfall, $0.warnings) = (.shortfall, lost, [warning])
      }
      #expect(told.contains(helps), "\(told)")
    }
  }

  @Test("What a cloud drive holds back is to be downloaded, not copied again")
  func cloud() {
    let warning = CaptureWarning(.notDownloaded, "rgb.mp4", "rgb.mp4 was not downloaded")
    for state in ["incomplete", "done"] {
      let told = sentence(state) { ($0.missing, $0.warnings) = (["rgb.mp4"], [warning]) }
      #expect(told?.contains("download them") == true, "\(state)")
    }
    for (file, isInCloud) in [(".rgb.mp4.icloud", true), ("rgb.mp4.part", false)] {
      let told = sentence("stalled-upload") {
        $0.upload = UploadProgress(bytes: 1, temporaryFile: "a/\(file)")
      }
      #expect(told?.contains("download them") == isInCloud, "\(file)")
    }
  }

  @Test("Each failure says what helps against it, and nothing that helps against another")
  func codes() {
    let told: [(FailureCause, FailureDetail, String)] = [
      (
        .program, FailureDetail(.killed, signal: "SIGKILL"),
        "The system killed it, most likely for want of memory: let fewer"
      ),
      (.program, FailureDetail(.crashed, signal: "SIGSEGV"), "A program crashed (SIGSEGV)"),
      (.program, FailureDetail(.outOfMemory), "It used more memory than it may: raise --memory"),
      (
        .program, FailureDetail(.notOurs, file: "/out/a/color"),
        "Move away '/out/a/color', which scanmill did not make"
      ),
      (
        .program, FailureDetail(.programFailed, number: 3),
        "A program of the stage ended with exit code 3"
      ),
      (
        .machine, FailureDetail(.diskFull),
        "Nothing is wrong with the capture. Free space on the disk"
      ),
      (
        .machine, FailureDetail(.deviceError, number: 5),
        "Nothing is wrong with the capture. Its disk or network reported an error (Input/output error)"
      ),
      (
        .permission, FailureDetail(.noPermission, remedy: "give the right with `chmod u+r a`"),
        "Its files are there and may not be read. Give the right with `chmod u+r a`; then"
      ),
    ]
    for (cause, detail, beginning) in told {
      #expect(failed(cause, detail).hasPrefix(beginning), "\(failed(cause, detail))")
    }
    for code in FailureDetail.Code.allCases {
      for cause in FailureCause.allCases {
        for state in ["failed", "quarantined"] {
          let words = failed(cause, FailureDetail(code), state: state)
          #expect(words.hasSuffix(".") && !words.contains(".."), "\(words)")
          #expect(words.contains("Free space") == (code == .diskFull), "\(words)")
          #expect(words.contains("Copy ") == (code == .damaged), "\(words)")
        }
      }
    }
  }

  @Test("Every cause in every state that needs a person has a sentence; the others none")
  func all() {
    for cause in FailureCause.allCases {
      for state in ["failed", "quarantined"] {
        #expect(failed(cause, state: state).hasSuffix("."))
        #expect(sentence(state) { $0.isGone = true }?.contains("Copy the capture again") == true)
      }
    }
    #expect(
      sentence("incomplete") { $0.missing = [".h264", ".imu"] }
        == "Copy the .h264 and .imu files from the device; watch then takes it.")
    #expect(
      sentence("incomplete") {
        $0.missing = [".imu"]
        $0.folder = "/in/a"
      } == "Copy the .imu file from the device to /in/a; watch then takes it.")
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
