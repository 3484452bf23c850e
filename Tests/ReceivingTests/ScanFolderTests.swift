import Foundation
import SystemPackage
import TestSupport
import Testing

@testable import Captures
@testable import Core
@testable import Receiving
@testable import scanmill_receive

/// Section 5.3 of the page about uploads: versions of a capture are whole scans.
@Suite("A folder is a scan")
struct ScanFolderTests {
  private static let endings = ["txt", "depth", "h264", "imu", "camera"]

  private static func scan(_ number: Int, same: Set<String>) -> [(name: String, content: String)] {
    endings.map { ("s.\($0)", same.contains($0) ? "the same \($0)" : "scan \(number) \($0)") }
  }

  private static func files(_ scan: [(name: String, content: String)], in folder: String)
    -> [String: String]
  {
    Dictionary(uniqueKeysWithValues: scan.map { ("\(folder)/\($0.name)", $0.content) })
  }

  @Test(
    "Two scans with one id, of which some files are the same, are two folders with all of their files, in whatever order they come",
    arguments: [
      ["camera"], ["txt"], ["h264"], ["txt", "camera"], ["depth", "h264", "imu", "camera"],
    ])
  func twoScans(same: [String]) throws {
    for isOther in [false, true] {
      for isRestarted in [false, true] {
        let scene = try StoreScene()
        let scans = (1...3).map { Self.scan($0, same: Set(same)) }
        for (number, scan) in scans.enumerated() {
          for (name, content) in scan {
            try scene.put("s", name, content, by: isOther ? "\(number)" : "test", isVerified: false)
            #expect(try scene.verify(name, content) == .same)
          }
          if isRestarted { try scene.restart() }
          // The clock of the app has 12 hours.
          if !isOther { scene.wait(seconds: 12 * 3600) }
        }
        let expected = zip(scans, ["s", "s~2", "s~3"]).map { Self.files($0, in: $1) }
          .reduce(into: [:]) { $0.merge($1) { $1 } }
        #expect(try scene.contents() == expected, "\(isOther)")
        for folder in ["s", "s~2", "s~3"] {
          let manifest = try #require(try scene.manifest(folder))
          #expect(manifest.complete != nil && manifest.isVerified, "\(folder): \(manifest)")
        }
        #expect(try scene.leftovers() == [])
      }
    }
  }

  @Test("One device that sends two scans with one id one after the other has two folders")
  func oneSender() throws {
    for same in [["camera"], ["txt"], ["txt", "depth"]] {
      let scene = try StoreScene()
      let scans = (1...2).map { Self.scan($0, same: Set(same)) }
      for (name, content) in scans.flatMap(\.self) {
        try scene.send(name, content)
        #expect(try scene.verify(name, content) == .same)
      }
      let expected = Self.files(scans[0], in: "s").merging(Self.files(scans[1], in: "s~2")) { $1 }
      #expect(try scene.contents() == expected, "\(same)")
      // The last file may be sent once more.
      let (name, content) = scans[1][4]
      #expect(try scene.send(name, content).kind == .identical)
      #expect(try scene.contents() == expected)
    }
  }

  @Test("A scan that goes on after the receiver was ended goes on in its folder")
  func restart() throws {
    let scene = try StoreScene()
    let scans = (1...2).map { Self.scan($0, same: ["camera", "imu"]) }
    for (name, content) in scans[0] { try scene.put("s", name, content) }
    for (name, content) in scans[1] {
      try scene.put("s", name, content, by: "other")
      try scene.restart()
    }
    #expect(
      try scene.contents()
        == Self.files(scans[0], in: "s").merging(Self.files(scans[1], in: "s~2")) { $1 })
  }

  @Test("A file that only the first folder lacks is not mixed into it")
  func notMixed() throws {
    let scene = try StoreScene()
    try scene.put("k", "a.csv", "a1")
    try scene.put("k", "a.csv", "a2", by: "other")
    try scene.put("k", "b.csv", "b2", by: "other")
    #expect(
      try scene.contents() == ["k/a.csv": "a1", "k~2/a.csv": "a2", "k~2/b.csv": "b2"])
    // Sent again, by somebody of whom nothing is known.
    #expect(try scene.put("k", "a.csv", "a2", by: "third").kind == .identical)
    #expect(try scene.put("k", "b.csv", "b2", by: "third").kind == .identical)
    try scene.put("k", "c.csv", "c2", by: "third")
    #expect(try scene.contents()["k~2/c.csv"] == "c2")
    #expect(try scene.contents().count == 4)
  }

  @Test("What is the same takes no space twice, where the disk can do that")
  func links() throws {
    let scene = try StoreScene()
    try scene.put("k", "a.csv", "a1")
    try scene.put("k", "b.csv", "same")
    try scene.put("k", "a.csv", "a2", by: "other")
    #expect(try scene.put("k", "b.csv", "same", by: "other").kind == .identical)
    let (one, two) = (
      try FileStatus(of: scene.path.appending("k/b.csv")),
      try FileStatus(of: scene.path.appending("k~2/b.csv"))
    )
    // The disk of the test has links and no clones.
    #expect(one.id == two.id && one.links == 2)
  }

  // MARK: complete

  @Test("A list is of one folder: what lies in another one with the listed digest is put there")
  func listed() throws {
    let scene = try StoreScene()
    let (first, second) = (
      ["a.csv": "a1", "b.csv": "same", "frames/1.jpg": "same"],
      ["a.csv": "a2", "b.csv": "same", "frames/1.jpg": "same"]
    )
    for (name, content) in first { try scene.put("k", name, content) }
    #expect(try scene.complete("k", first).isComplete)
    // As `send` does: what the receiver has already is not sent.
    try scene.put("k", "a.csv", "a2")
    #expect(try scene.manifest("k~2")?.complete == nil)
    #expect(try scene.complete("k", second).isComplete)
    var expected: [String: String] = [:]
    for (name, content) in first { expected["k/\(name)"] = content }
    for (name, content) in second { expected["k~2/\(name)"] = content }
    #expect(try scene.contents() == expected)
    for folder in ["k", "k~2"] {
      let manifest = try #require(try scene.manifest(folder))
      #expect(manifest.complete != nil && manifest.isVerified && manifest.files.count == 3)
    }
    try scene.restart()
    #expect(try scene.complete("k", second).isComplete)
    #expect(try scene.contents() == expected)
  }

  @Test("No folder that has all of a list: 409, and nothing is complete")
  func notListed() throws {
    let scene = try StoreScene()
    try scene.put("k", "a.csv", "a1")
    try scene.put("k", "b.csv", "b1")
    try scene.put("k", "a.csv", "a2", by: "other")
    // Without a digest nobody can say that it is the same.
    let answer = try scene.store.complete(
      "k", [.init(name: "a.csv", sha256: Digest(of: "a2").hex.uppercased()), .init(name: "b.csv")],
      sender: "x")
    #expect(answer == .init(missing: ["b.csv"]))
    #expect(try scene.complete("k", ["a.csv": "a2", "c.csv": "c"]) == .init(missing: ["c.csv"]))
    #expect(
      try scene.complete("k", ["a.csv": "a3", "b.csv": "b1"]) == .init(different: ["a.csv"]))
    #expect(try scene.complete("k", ["a.csv": "a2", "d.csv": "b1"]) == .init(missing: ["d.csv"]))
    for folder in ["k", "k~2"] { #expect(try scene.manifest(folder)?.complete == nil) }
    #expect(try scene.contents().count == 3)
  }

  @Test("What is gone from a folder and lies in another one is put back, and noted once")
  func putBack() throws {
    let scene = try StoreScene()
    for (name, content) in [("a.csv", "a1"), ("b.csv", "same")] {
      try scene.put("k", name, content)
    }
    for (name, content) in [("a.csv", "a2"), ("b.csv", "same")] {
      try scene.put("k", name, content, by: "other")
    }
    try FileSystem.remove(scene.path.appending("k~2/b.csv"))
    #expect(try scene.complete("k", ["a.csv": "a2", "b.csv": "same"]).isComplete)
    #expect(try scene.contents()["k~2/b.csv"] == "same")
    let manifest = try #require(try scene.manifest("k~2"))
    #expect(manifest.files.map(\.name).sorted() == ["a.csv", "b.csv"])
    #expect(manifest.complete != nil && manifest.isVerified)
  }

  @Test("A list of files of which each is there is a scan, whatever folders they came to")
  func mixed() throws {
    let scene = try StoreScene()
    for (name, content) in [("a.csv", "a1"), ("b.csv", "b1")] { try scene.put("k", name, content) }
    for (name, content) in [("a.csv", "a2"), ("b.csv", "b2")] {
      try scene.put("k", name, content, by: "other")
    }
    let before = try scene.contents()
    #expect(try scene.complete("k", ["a.csv": "a2", "b.csv": "b1"]).isComplete)
    #expect(
      try scene.contents() == before.merging(["k~3/a.csv": "a2", "k~3/b.csv": "b1"]) { $1 })
    #expect(try scene.manifest("k~3")?.complete != nil)
    for folder in ["k", "k~2"] { #expect(try scene.manifest(folder)?.complete == nil) }
    #expect(try scene.complete("k", ["a.csv": "a2", "b.csv": "b1"]).isComplete)
    #expect(try scene.contents().count == 6)
  }

  @Test("Without a list the folder is complete into which its sender has sent")
  func withoutList() throws {
    let scene = try StoreScene()
    try scene.put("k", "a.csv", "a1", by: "one")
    try scene.put("k", "a.csv", "a2", by: "two")
    #expect(try scene.store.complete("k", nil, sender: "one").isComplete)
    #expect(try scene.manifest("k")?.complete != nil)
    #expect(try scene.manifest("k~2")?.complete == nil)
    #expect(try scene.store.complete("k", nil, sender: "two").isComplete)
    #expect(try scene.manifest("k~2")?.complete != nil)
  }

  // MARK: Names

  @Test("A capture that somebody calls X~2 is no version of X, whichever is first")
  func names() throws {
    for isFirst in [true, false] {
      let scene = try StoreScene()
      func own() throws { try scene.put("x~2", "other.mp4", "other") }
      func versions() throws {
        try scene.put("x", "a.csv", "a1")
        try scene.put("x", "a.csv", "a2", by: "second")
      }
      if isFirst { try own() }
      try versions()
      if !isFirst { try own() }
      let (second, other) = isFirst ? ("x~3", "x~2") : ("x~2", "x~2~2")
      #expect(
        try scene.contents() == [
          "x/a.csv": "a1", "\(second)/a.csv": "a2", "\(other)/other.mp4": "other",
        ])
      #expect(try scene.store.complete("x", nil, sender: "second").isComplete)
      #expect(try scene.manifest(other)?.complete == nil)
      // A capture of another name with this content is no answer.
      #expect(try scene.put("x", "other.mp4", "other").kind != .identical)
      try scene.restart()
      #expect(try scene.manifest(other)?.capture == "x~2")
      #expect(try scene.store.complete("x~2", nil).isComplete)
      #expect(try scene.manifest(other)?.complete != nil)
    }
  }

  @Test("A folder X~2 that came in another way is a capture of its own, and stays as it is")
  func copied() throws {
    let scene = try StoreScene()
    try scene.put("x", "a.csv", "a1")
    try FileSystem.makeFolder(scene.path.appending("x~2"))
    try scene.path.appending("x~2/a.csv").write("mine")
    try scene.put("x", "a.csv", "a2", by: "second")
    #expect(
      try scene.contents() == ["x/a.csv": "a1", "x~2/a.csv": "mine", "x~3/a.csv": "a2"])
    scene.store.enterUnlisted()
    #expect(try scene.manifest("x~2")?.capture == "x~2")
  }

  @Test("An id leaves space for the number of its versions")
  func longNames() throws {
    let scene = try StoreScene()
    let id = String(repeating: "i", count: 251)
    for content in ["one", "two"] {
      #expect(throws: UploadRefusal.self) { try scene.put(id + "i", "a.csv", content) }
      try scene.put(id, "a.csv", content, by: content)
    }
    #expect(try scene.contents() == ["\(id)/a.csv": "one", "\(id)~2/a.csv": "two"])
  }

  @Test("Names that watch passes over are refused, as captures and in them")
  func ignored() throws {
    for name in [
      "lost+found", "@eaDir", "#recycle", "@Recycle", "$RECYCLE.BIN", "Thumbs.db", "desktop.ini",
      "System Volume Information", "ehthumbs.db", "Desktop.ini", "@Recently-Snapshot", "#snapshot",
      "~$a", "a.truth",
    ] {
      #expect(throws: UploadRefusal.self, "\(name)") {
        try UploadName(capture: name, path: "a.csv", endings: UploadLimits.knownEndings)
      }
      guard name != "a.truth" else { continue }
      #expect(throws: UploadRefusal.self, "\(name)") {
        try UploadName(capture: "a", path: "\(name)/a.csv", endings: UploadLimits.knownEndings)
      }
      #expect(throws: UploadRefusal.self, "\(name)") {
        try UploadName(
          capture: "a", path: name, endings: UploadLimits.knownEndings.union(["db", "ini"]))
      }
    }
  }

  // MARK: Failures

  @Test("A failure at any file call leaves no half of a second scan, and sending again ends well")
  func faults() throws {
    func prepared() throws -> StoreScene {
      let scene = try StoreScene()
      try scene.put("k", "a.csv", "a1")
      try scene.put("k", "frames/b.jpg", "same")
      #expect(try scene.put("k", "frames/b.jpg", "same", by: "two").kind == .identical)
      scene.files.arm(nil)
      return scene
    }
    let (before, after) = (
      ["k/a.csv": "a1", "k/frames/b.jpg": "same"],
      [
        "k/a.csv": "a1", "k/frames/b.jpg": "same", "k~2/a.csv": "a2", "k~2/frames/b.jpg": "same",
      ]
    )
    let whole = try prepared()
    try whole.put("k", "a.csv", "a2", by: "two")
    #expect(try whole.contents() == after)
    for (at, call) in whole.files.calls.enumerated() {
      let scene = try prepared()
      scene.files.arm(.once(at: at, .noSpace))
      let isDone = (try? scene.put("k", "a.csv", "a2", by: "two")) != nil
      scene.files.arm(nil)
      let found = try scene.contents()
      #expect(found == after || !isDone && found == before, "\(call) \(at): \(found)")
      try scene.put("k", "a.csv", "a2", by: "two")
      let then = try scene.contents()
      #expect(then == after, "\(call) \(at): \(then)")
      try scene.restart()
      #expect(try scene.leftovers() == [], "\(call) \(at)")
      #expect(try scene.complete("k", ["a.csv": "a2", "frames/b.jpg": "same"]).isComplete)
      #expect(try scene.contents() == after, "\(call) \(at)")
    }
    for (at, call) in whole.files.calls.enumerated() {
      let scene = try prepared()
      scene.files.arm(.death(at: at))
      let isDone = (try? scene.put("k", "a.csv", "a2", by: "two")) != nil
      try scene.restart()
      scene.store.enterUnlisted()
      let found = try scene.contents()
      for (name, content) in found { #expect(after[name] == content, "\(call) \(at): \(name)") }
      for (name, content) in before { #expect(found[name] == content, "\(call) \(at): \(name)") }
      if isDone { #expect(found == after, "\(call) \(at)") }
      try scene.put("k", "a.csv", "a2", by: "two")
      #expect(try scene.complete("k", ["a.csv": "a2", "frames/b.jpg": "same"]).isComplete)
      let then = try scene.contents()
      #expect(then == after, "\(call) \(at): \(then)")
      let left = try scene.leftovers()
      #expect(left == [], "\(call) \(at): \(left)")
    }
  }
}

@Suite("What the page tells of the output is of the capture itself")
struct OutputStatesTests {
  private let folder: TemporaryFolder
  private var output: FilePath { folder.path.appending("out") }
  private var staging: FilePath { folder.path.appending("staging") }

  init() throws {
    folder = try TemporaryFolder()
    try FileSystem.makeFolder(staging)
    try FileSystem.makeFolder(output)
  }

  /// An output as `run` makes it of a place in STAGING.
  private func make(_ name: String, of place: String, stem: String? = nil) throws {
    let notes = output.appending(name: name).appending(".scanmill")
    try FileSystem.makeFolder(notes)
    let owner: [String: Any?] = [
      "schema": 1, "id": name, "family": "scannet", "stem": stem,
      "folder": staging.pushing(FilePath(place)).string,
    ]
    try JSONSerialization.data(withJSONObject: owner.compactMapValues(\.self)).write(
      to: URL(filePath: notes.appending("owner.json").string))
    try output.appending(name: name).appending("report.html").write("report of \(place)")
  }

  private func report(_ states: OutputStates, _ folder: String) -> String? {
    states.report(of: folder).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test("Names that become one name in the output, and a second scan that was processed first")
  func owners() throws {
    try make("scan-a", of: "scan a")
    try make("scan-a~2", of: "scan-a")
    try make("k", of: "k~2")
    try make("k~2", of: "k")
    try make("s", of: "s", stem: "s")
    try make("t-1", of: "t", stem: "1")
    try make("t", of: "t", stem: "t")
    let states = OutputStates(output, staging: staging)
    for name in ["scan a", "scan-a", "k", "k~2", "s", "t"] {
      #expect(report(states, name) == "report of \(name)")
      #expect(states.states(of: [name])[name]?.state == "done")
    }
    for name in ["scan-a~2", "t-1", "out", ".."] {
      #expect(report(states, name) == nil)
      #expect(states.states(of: [name]).isEmpty)
    }
    // What failed is not done.
    let note = output.appending("k").appending(".failed").appending("color")
    try FileSystem.makeFolder(note)
    try note.appending("failure.json").write(
      #"{"schema":1,"message":"no video","cause":"input","time":"2026-11-27T08:00:00Z"}"#)
    let failed = states.states(of: ["k~2"])["k~2"]
    #expect(failed?.state == "failed" && failed?.note == "no video")
    // Another owner, and a report that is gone.
    try make("k", of: "new")
    try FileSystem.remove(output.appending("s").appending("report.html"))
    #expect(report(states, "new") == "report of new" && report(states, "k~2") == nil)
    #expect(states.states(of: ["s"]).isEmpty)
  }
}
