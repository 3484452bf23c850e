@testable import Captures
@testable import Media
@testable import Core
import SystemPackage
import TestSupport
import Testing

extension ChangedCapture<Record3DScratch> {
  /// With other members of the metadata.
  fileprivate init(_ changes: [String: String?], _ told: [String: Int]) {
    self.init("\(changes.sorted { $0.key < $1.key })", told) {
      try $0.write(Record3DScratch.metadata(4, changes), to: "metadata")
    }
  }
}

@Suite("Record3D: what goes wrong")
struct Record3DSituationTests {
  typealias Situation = ChangedCapture<Record3DScratch>

  private static let identities = "[[0,0,0,1,0,0,0], [0,0,0,1,0,0,0]]"

  static let situations = [
    Situation("whole", [:]) { _ in },
    Situation("metadata with a byte order mark", [:]) {
      try $0.write([0xEF, 0xBB, 0xBF] + $0.bytes(of: "metadata"), to: "metadata")
    },
    Situation(
      "no metadata",
      [
        "missing-file metadata": 1, "timestamps-missing frames": 4, "calibration-missing color": 1,
      ]
    ) { scratch in
      // The size of depth then follows from the number of values.
      for frame in 0..<4 {
        try scratch.write(
          Record3DScratch.stream(Record3DScratch.depth(1, 49_152)), to: "rgbd/\(frame).depth")
        try scratch.write(
          Record3DScratch.stream([UInt8](repeating: 1, count: 49_152)), to: "rgbd/\(frame).conf")
      }
      try scratch.remove("metadata")
    },
    Situation(
      "metadata that is no object",
      [
        "corrupt-record metadata": 1, "timestamps-missing frames": 4,
        "calibration-missing color": 1,
      ]
    ) { try $0.write("[1, 2]", to: "metadata") },
    Situation(
      "metadata of 0 bytes",
      [
        "missing-file metadata": 1, "timestamps-missing frames": 4,
        "calibration-missing color": 1,
      ]
    ) { try $0.write("", to: "metadata") },
    Situation(["frameTimestamps": nil], ["timestamps-missing frames": 4]),
    Situation(["frameTimestamps": "[0, 0.0166]"], ["timestamps-missing frames": 2]),
    Situation(
      ["frameTimestamps": "[0, 0.0166, 0.0166, 0.01]"],
      ["timestamps-duplicate frames": 1, "timestamps-unordered frames": 1]),
    Situation(["frameTimestamps": "[0, 0.0166, 0.0333, 0.2]"], ["frame-gap frames": 1]),
    Situation(["frameTimestamps": "[0, NaN, 0.0333, 0.05]"], ["timestamps-missing frames": 1]),
    Situation(["K": "[]", "perFrameIntrinsicCoeffs": nil], ["calibration-missing color": 1]),
    Situation(
      ["K": "[0, 0, 0, 0, 0, 0, 0, 0, 1]", "perFrameIntrinsicCoeffs": "[]"],
      ["calibration-missing color": 1]),
    Situation(["K": nil], [:]), Situation(["perFrameIntrinsicCoeffs": nil], [:]),
    Situation(
      ["poses": identities, "cameraType": "0"],
      [
        "frame-count-mismatch color": 2,
        "frame-count-mismatch depth": 2, "frame-count-mismatch confidence": 2,
      ]),
    Situation(
      ["poses": identities],
      [
        "untracked-poses poses": 2, "frame-count-mismatch color": 2,
        "frame-count-mismatch depth": 2, "frame-count-mismatch confidence": 2,
      ]),
    Situation(
      [
        "poses":
          "[[0,0,0,1,0,0,0], [0,0,0,0,0,0,0], [0,0,0,1,Infinity,0,0], [0,0,0,NaN,0,0,0]]"
      ], ["non-finite-value poses": 3]),
    Situation(
      ["poses": "[[0,0,0,1,0,0,0], [0,0,0,1,0.1,0,0], [0,0,0,1,0.4,0,0], [0,0,0,2,0.3,0,0]]"],
      ["pose-jump poses": 1]),
    Situation(["poses": nil], [:]),
    Situation(["w": "16"], ["size-mismatch color": 4]),
    Situation(["w": nil, "h": nil], [:]),
    Situation(["dw": "5"], ["corrupt-record depth": 4, "corrupt-record confidence": 4]),
    Situation(["dw": "6", "dh": "4"], ["size-mismatch depth": 1]),
    Situation(
      ["dw": "6", "dh": "4", "w": "12", "h": "8"],
      ["size-mismatch depth": 1, "size-mismatch color": 4]),
    Situation("confidence of another scale", ["implausible-unit confidence": 1]) {
      try $0.write(
        Record3DScratch.stream([0, 54, 255] + [UInt8](repeating: 0, count: 21)),
        to: "rgbd/1.conf")
    },
    Situation("hidden and foreign files", [:]) { scratch in
      for name in [
        "rgbd/._0.jpg", "rgbd/._0.depth", "rgbd/Thumbs.db", "rgbd/.DS_Store", "rgbd/a1.jpg",
        "rgbd/5.png", "icon", "sound.m4a", "__MACOSX/._metadata", "__MACOSX/rgbd/._0.jpg",
        ".DS_Store",
      ] { try scratch.write("x", to: name) }
    },
    Situation(
      "a hole",
      [
        "frame-count-mismatch color": 1, "frame-count-mismatch depth": 1,
        "frame-count-mismatch confidence": 1,
      ]
    ) { scratch in
      for ending in ["jpg", "depth", "conf"] { try scratch.remove("rgbd/2.\(ending)") }
    },
    Situation(
      "fewer color files",
      ["frame-count-mismatch color": 2, "color-shorter-than-depth color": 2]
    ) { scratch in
      for frame in 0..<2 { try scratch.remove("rgbd/\(frame).jpg") }
    },
    Situation(
      "fewer depth files", ["frame-count-mismatch depth": 1, "depth-shorter-than-color depth": 1]
    ) { try $0.remove("rgbd/3.depth") },
    Situation("no color at all", ["missing-file color": 1]) { scratch in
      for frame in 0..<4 { try scratch.remove("rgbd/\(frame).jpg") }
    },
    Situation("no depth at all", ["missing-file depth": 1]) { scratch in
      for frame in 0..<4 { try scratch.remove("rgbd/\(frame).depth") }
    },
    Situation("no confidence at all", [:]) { scratch in
      for frame in 0..<4 { try scratch.remove("rgbd/\(frame).conf") }
    },
    Situation(
      "files of 0 bytes",
      ["empty-record color": 1, "empty-record depth": 1, "empty-record confidence": 1]
    ) { scratch in
      for ending in ["jpg", "depth", "conf"] { try scratch.write("", to: "rgbd/1.\(ending)") }
    },
    Situation("damaged depth", ["corrupt-record depth": 3]) { scratch in
      let whole = try scratch.bytes(of: "rgbd/0.depth")
      try scratch.write(Array(whole.dropLast(1)), to: "rgbd/0.depth")
      try scratch.write("bvx7" + String(repeating: "x", count: 100), to: "rgbd/1.depth")
      try scratch.write(Record3DScratch.stream([1, 2, 3, 4]), to: "rgbd/2.depth")
    },
    Situation("half a JPEG", ["corrupt-record color": 1]) { scratch in
      let whole = try Record3DScratch.jpeg(80, 120)
      try scratch.write(Array(whole.prefix(whole.count / 2)), to: "rgbd/2.jpg")
    },
    Situation("another size of color", ["size-mismatch color": 1]) {
      try $0.write(try Record3DScratch.jpeg(9, 12), to: "rgbd/2.jpg")
    },
    Situation("infinite and negative depth", ["non-finite-value depth": 2]) { scratch in
      try scratch.write(
        Record3DScratch.depth(.infinity, 1) + Record3DScratch.depth(1, 23), to: "rgbd/0.depth")
      try scratch.write(
        Record3DScratch.depth(-1, 1) + Record3DScratch.depth(.nan, 23), to: "rgbd/1.depth")
      try scratch.write(Record3DScratch.depth(.nan), to: "rgbd/2.depth")
    },
    Situation(
      "numbers that are not believed",
      ["corrupt-record depth": 2, "corrupt-record color": 1, "corrupt-record confidence": 1]
    ) { scratch in
      for name in ["16777216.depth", "1033.depth", "9999.jpg", "99999999999999999999999.conf"] {
        try scratch.write("x", to: "rgbd/\(name)")
      }
    },
  ]

  @Test("An unpacked recording is read as far as it goes", arguments: situations)
  func unpacked(_ situation: Situation) throws {
    let scratch = try Record3DScratch()
    try situation.change(scratch)
    let capture = try CaptureRegistry.builtIn.open(scratch.recognition(as: .record3D))
    #expect(capture.generation == "r3d-folder")
    #expect(try capture.allCounts() == situation.told)
  }

  @Test("So is the same in an archive", arguments: situations)
  func packed(_ situation: Situation) throws {
    let scratch = try Record3DScratch()
    try situation.change(scratch)
    let capture = try Capture.found(at: try scratch.archive())
    #expect(capture.generation == "r3d")
    #expect(try capture.allCounts() == situation.told)
  }

  struct Damage: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var warnings: [String: Int]
    var change: @Sendable (inout ScratchZIP) -> Void
  }

  @Test(
    "An archive is read as far as it goes",
    arguments: [
      Damage(
        testDescription: "checksums",
        warnings: [
          "corrupt-record color": 1, "corrupt-record depth": 1, "corrupt-record confidence": 1,
        ]
      ) { zip in
        for index in 4...6 { zip.entries[index].checksum = 7 }
      },
      Damage(testDescription: "encrypted", warnings: ["corrupt-record color": 1]) {
        $0.entries[1].flags = 1
      },
      Damage(
        testDescription: "64 MiB are too much", warnings: ["corrupt-record confidence": 1]
      ) { $0.entries[3].claimedContent = 64 << 20 + 1 },
      Damage(
        testDescription: "metadata that cannot be unpacked",
        warnings: [
          "corrupt-record metadata": 1, "timestamps-missing frames": 4,
          "calibration-missing color": 1,
        ]
      ) { $0.entries[0].checksum = 7 },
      Damage(
        testDescription: "doubled entries",
        warnings: [
          "multiple-streams color": 2, "multiple-streams depth": 1,
          "multiple-streams confidence": 1, "multiple-streams metadata": 1,
        ]
      ) { zip in
        for name in [
          "rgbd/1.jpg", "rgbd/1.jpg", "rgbd/1.depth", "rgbd/1.conf", "metadata", "icon", "icon",
        ] { zip.entries.append(ScratchZIP.Entry(name, [1, 2, 3])) }
      },
      Damage(
        testDescription: "hostile names", warnings: ["path-outside-capture record3d": 4]
      ) { zip in
        for name in ["../0.jpg", "/rgbd/0.jpg", "rgbd\\0.jpg", "C:rgbd/0.jpg"] {
          zip.entries.insert(ScratchZIP.Entry(name, [1, 2, 3]), at: 0)
        }
      },
      Damage(testDescription: "the directory is lost", warnings: ["truncated-stream record3d": 1]) {
        $0.hasDirectory = false
      },
    ])
  func archives(_ damage: Damage) throws {
    let scratch = try Record3DScratch()
    let capture = try Capture.found(at: try scratch.archive(damage.change))
    var found = try capture.allCounts()
    if damage.testDescription.hasPrefix("metadata") {
      // Without dw and dh depth of this size is not known.
      found["corrupt-record depth"] = nil
      found["corrupt-record confidence"] = nil
    }
    #expect(found == damage.warnings)
    #expect(capture.frames.count == 4)
  }

  @Test("Links that lead outside are told and not followed")
  func outside() throws {
    let scratch = try Record3DScratch()
    try scratch.remove("rgbd/1.jpg")
    try scratch.link("rgbd/1.jpg", to: "/etc/passwd")
    let capture = try scratch.open()
    let warnings = try capture.allCounts()
    #expect(warnings["path-outside-capture color"] == 1)
    #expect(warnings["frame-count-mismatch color"] == 1)
  }

  // MARK: Values

  @Test("A matrix by columns and one by rows are the same camera")
  func matrices() throws {
    for (matrix, cx) in [
      ("[7, 0, 0, 0, 7.5, 0, 3.5, 5.5, 1]", 3.5), ("[7, 0, 3.5, 0, 7.5, 5.5, 0, 0, 1]", 3.5),
      ("[7, 0, 0, 0, 7.5, 0, 0, 0, 1]", 0),
    ] {
      let scratch = try Record3DScratch()
      try scratch.write(
        Record3DScratch.metadata(
          4, ["K": matrix, "perFrameIntrinsicCoeffs": "[[9, 9, 1, 2], [0, 0, 0, 0]]"]),
        to: "metadata")
      let rows = try #require(try scratch.open().intrinsics.value)
      #expect(rows.count == 4)
      #expect([rows[0].fx, rows[0].cx] == [9, 1])
      #expect(rows[1...].allSatisfy { $0.fx == 7 && $0.fy == 7.5 && $0.cx == cx })
    }
  }

  @Test("Times are exact, whatever their digits")
  func times() throws {
    let scratch = try Record3DScratch()
    try scratch.write(
      Record3DScratch.metadata(
        4, ["frameTimestamps": "[0, 0.016668042000674177, 3.3334500000000004e-2, 5E-2]"]),
      to: "metadata")
    #expect(
      try scratch.open().frames.map(\.timestamp?.nanoseconds) == [
        0, 16_668_042, 33_334_500, 50_000_000,
      ])
  }

  @Test(
    "Without times they follow from the rate, rounded to nearest",
    arguments: [
      ("60", [0, 16_666_667, 33_333_333, 50_000_000]),
      ("59.94", [0, 16_683_350, 33_366_700, 50_050_050]),
      ("0", [nil, nil, nil, nil]), ("\"x\"", [nil, nil, nil, nil]),
    ] as [(String, [Int64?])])
  func nominal(fps: String, expected: [Int64?]) throws {
    let scratch = try Record3DScratch()
    try scratch.write(
      Record3DScratch.metadata(4, ["frameTimestamps": nil, "fps": fps]), to: "metadata")
    let capture = try scratch.open()
    #expect(capture.frames.map(\.timestamp?.nanoseconds) == expected)
    #expect(capture.clock.base == .nominal)
  }

  @Test("The size of depth follows from its values where it is not stated")
  func sizes() throws {
    for (count, width, height) in [
      (49_152, 192, 256), (307_200, 480, 640), (691_200, 720, 960),
    ] {
      let scratch = try Record3DScratch()
      try scratch.write(Record3DScratch.metadata(4, ["dw": nil]), to: "metadata")
      try scratch.write(Record3DScratch.stream(Record3DScratch.depth(1, count)), to: "rgbd/1.depth")
      let depth = try #require(try scratch.open().depth.value)
      #expect(depth.width == width)
      #expect(depth.height == height)
    }
    let scratch = try Record3DScratch()
    try scratch.write(Record3DScratch.metadata(4, ["dw": nil]), to: "metadata")
    #expect(try scratch.open().depth.error != nil)
  }

  @Test("Intrinsics state the size of the metadata where the first picture alone has another one")
  func firstPictureOfOtherSize() throws {
    let scratch = try Record3DScratch()
    let usual = try #require(try scratch.open().intrinsics.value?.first)
    try scratch.write(try Record3DScratch.jpeg(9, 12), to: "rgbd/0.jpg")
    let rows = try #require(try scratch.open().intrinsics.value)
    #expect(rows.allSatisfy { $0.width == usual.width && $0.height == usual.height })
  }

  @Test("Raw copies are read and named")
  func rawCopies() throws {
    let scratch = try Record3DScratch()
    for frame in 0..<4 {
      try scratch.write(Record3DScratch.depth(0.0015), to: "rgbd/\(frame).depth")
      try scratch.write([UInt8](repeating: 1, count: 24), to: "rgbd/\(frame).conf")
    }
    let capture = try scratch.open()
    #expect(capture.depth.value?.description.encoding == "raw-f32")
    #expect(capture.confidence.value?.description.encoding == "raw-u8")
    #expect(try capture.depth.value?.pictures()[2] == [UInt16](repeating: 2, count: 24))
  }

  @Test("An archive tells one file for all parts")
  func files() throws {
    let scratch = try Record3DScratch()
    let path = try scratch.archive()
    let capture = try Capture.found(at: path)
    #expect(capture.isFile)
    #expect(capture.completeness.isWhole)
    for paths in capture.files.values {
      #expect(paths.map(\.lastComponent) == [path.lastComponent])
    }
  }
}
