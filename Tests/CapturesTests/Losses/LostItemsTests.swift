@testable import Captures
import Foundation
@testable import Core
@testable import Synthetic
import SystemPackage
import TestSupport
import Testing

/// A capture of each family and generation, each of its streams without some of its items, and one of its
/// other files gone: what is left belongs together, or it is told by how much it may not.
///
/// Ordinary runs take some items out of each stream; `make soak` takes all patterns, all times and side files.
@Suite("Items that a capture lost")
struct LostItemsTests {
  /// A stream of a capture in which items may be lost.
  struct Stream: Sendable {
    var name: String
    var stores: [ItemStore]
    /// Whether what is left tells which items are lost, as long as these files are there; `nil`: it does not.
    var keys: [String]?
    /// The frame of the first item, and the frames from item to item.
    var first = 0
    var step = 1
    /// Losses that something can tell.
    var patterns = Pattern.allCases

    var video: String? {
      if case .video(let name, _)? = stores.first { name } else { nil }
    }
  }

  struct Scene: Sendable, CustomTestStringConvertible {
    var family: String
    var generation: String
    var fault: String?
    var rate: Double?
    var streams: [Stream]
    /// Files and folders that may be gone.
    var sides: [String]
    /// Whether the folder is one ZIP file in the end.
    var isPacked = false
    /// Where files lie in it.
    var inner = ""
    /// Files without which nothing tells how many pictures there should be.
    let metadata = ["made.json", "made.txt"]
    /// Whether the pictures of the video have the times of the rows of `odometry.csv`.
    var hasRealTimes = false

    var testDescription: String {
      ([family, generation, fault, rate.map { "\(Int($0)) per second" }] as [String?])
        .compactMap(\.self).joined(separator: " ")
    }
  }

  enum Pattern: String, CaseIterable {
    case first, last, one, several, half, otherHalf, firstHalf

    func items(of count: Int) -> Set<Int> {
      switch self {
      case .first: [0]
      case .last: [count - 1]
      case .one: [count / 2 - 1]
      case .several: [count / 4, count / 4 + 1, count * 2 / 3]
      case .half: Set(stride(from: 1, to: count, by: 2))
      case .otherHalf: Set(stride(from: 0, to: count, by: 2))
      case .firstHalf: Set(0..<count / 2)
      }
    }
  }

  private static let frames = 14

  // MARK: Families

  private static func scanner(
    _ generation: String, video: String = "rgb.mp4", depth: (ItemStore), poses: [Stream],
    sides: [String]
  ) -> Scene {
    Scene(
      family: "arkit-scanner", generation: generation,
      streams: [
        // A Matroska file begins with its first picture, whatever was lost before it.
        Stream(name: "pictures", stores: [.video(video)], keys: video.hasSuffix("mkv") ? nil : []),
        Stream(name: "depth records", stores: [depth]),
      ] + poses, sides: [video, depth.name] + sides)
  }

  /// Entries of one side file; where all of them lost the same, nothing tells.
  private static func entries(_ files: [String], areNumbers: Bool) -> [Stream] {
    files.map {
      Stream(
        name: $0, stores: [.members($0)],
        keys: areNumbers ? [] : files.count > 1 && $0 != files[1] ? [files[1]] : [files[0]])
    } + [
      Stream(
        name: "entries of all", stores: files.map { .members($0) }, keys: areNumbers ? [] : nil)
    ]
  }

  private static let scanners: [Scene] = [
    scanner(
      "g6", depth: .records("depth.bin"),
      poses: entries(["trans.json", "intri.json", "offset.json", "exif.json"], areNumbers: false),
      sides: ["trans.json", "intri.json", "offset.json", "exif.json", "imu.json", "metadata.json"]),
    scanner(
      "g5", depth: .records("depth.bin"),
      poses: entries(["trans.json", "intri.json", "offset.json"], areNumbers: false),
      sides: ["trans.json", "metadata.json"]),
    scanner(
      "g4", depth: .records("depth.bin"),
      poses: entries(["trans.json", "intri.json", "offset.json"], areNumbers: false),
      sides: ["intri.json"]),
    scanner(
      "g3", depth: .records("depth.bin"),
      poses: entries(["trans.json", "offset.json"], areNumbers: true),
      sides: ["trans.json", "offset.json", "metadata.json"]),
    scanner(
      "g2c", depth: .deflated("depth.bin", bytes: 196_608),
      poses: entries(["trans.json", "offset.json"], areNumbers: true), sides: ["offset.json"]),
    scanner(
      "g2b", depth: .deflated("depth", bytes: 196_608),
      poses: entries(["trans.json", "offset.json"], areNumbers: true), sides: ["trans.json"]),
    scanner(
      "g2a", video: "video.mp4", depth: .deflated("depthBufferSequence", bytes: 196_608),
      poses: [
        Stream(
          name: "poses", stores: [.files("", suffix: "_trans.xml")], keys: ["*_offset.txt"]),
        Stream(
          name: "offsets", stores: [.files("", suffix: "_offset.txt")], keys: ["*_trans.xml"]),
      ], sides: ["*_offset.txt", "intri.xml"]),
    scanner(
      "g1", video: "video.mp4", depth: .blocks("depthBufferSequence.bin", bytes: 196_608),
      poses: [
        Stream(
          name: "poses", stores: [.files("", suffix: "_trans.xml")], keys: ["*_offset.txt"]),
        Stream(
          name: "entries of all",
          stores: [.files("", suffix: "_trans.xml"), .files("", suffix: "_offset.txt")]),
      ], sides: ["*_trans.xml", "intri.xml"]),
    scanner(
      "scannetpp", video: "rgb.mkv", depth: .records("depth.bin"),
      poses: entries(["pose_intrinsic_imu.json", "exif.json"], areNumbers: true),
      sides: ["pose_intrinsic_imu.json", "exif.json"]),
  ]

  private static func stray(
    _ generation: String, rate: Double? = nil, fault: String? = nil, hasRealTimes: Bool = false
  ) -> Scene {
    let ending = generation == "npy" ? ".npy" : ".png"
    var streams = [
      Stream(
        name: "pictures", stores: [.video("rgb.mp4", firstTick: hasRealTimes ? 0 : -10)],
        keys: hasRealTimes ? (fault == nil ? nil : ["odometry.csv"]) : []),
      Stream(name: "depth files", stores: [.files("depth", suffix: ending)], keys: []),
      Stream(
        name: "rows", stores: [.lines("odometry.csv", head: 1)],
        keys: hasRealTimes ? ["rgb.mp4"] : []),
    ]
    var sides = ["rgb.mp4", "odometry.csv", "imu.csv", "camera_matrix.csv", "depth"]
    if generation != "npy" {
      streams.append(
        Stream(name: "confidence files", stores: [.files("confidence", suffix: ".png")], keys: []))
      sides.append("confidence")
    }
    return Scene(
      family: "stray-scanner", generation: generation, fault: fault, rate: rate, streams: streams,
      sides: sides, hasRealTimes: hasRealTimes)
  }

  private static func lidar(_ generation: String, fault: String?) -> Scene {
    Scene(
      family: "multiscan", generation: generation, fault: fault,
      streams: [
        Stream(
          name: "pictures", stores: [.video("made.mp4")], keys: fault == nil ? nil : ["made.jsonl"]),
        Stream(name: "depth", stores: [.deflated("made.depth.zlib", bytes: 98_304)]),
        Stream(name: "confidence", stores: [.deflated("made.confidence.zlib", bytes: 49_152)]),
        Stream(name: "lines", stores: [.lines("made.jsonl")]),
      ],
      sides: [
        "made.mp4", "made.jsonl", "made.json", "made.depth.zlib", "made.confidence.zlib",
      ])
  }

  private static let multiscan: [Scene] =
    [
      lidar("ios-lidar", fault: nil), lidar("ios-lidar", fault: "gap"),
      lidar("ios-lidar-2020", fault: "gap"),
      Scene(
        family: "multiscan", generation: "ios-stereo",
        streams: [
          Stream(name: "pictures", stores: [.video("made.mp4")]),
          Stream(name: "depth", stores: [.deflated("made.depth.zlib", bytes: 64 * 48 * 2)]),
        ], sides: ["made.json", "made.rot"]),
      Scene(
        family: "multiscan", generation: "android-arcore",
        streams: [
          Stream(name: "pictures", stores: [.video("made.mp4")]),
          Stream(
            name: "depth", stores: [.deflated("made.depth.zlib", bytes: 160 * 120 * 2)], first: 3),
          Stream(
            name: "confidence", stores: [.deflated("made.confidence.zlib", bytes: 160 * 120)],
            first: 3),
          Stream(name: "lines", stores: [.lines("made.jsonl")]),
        ], sides: ["made.json", "made.jsonl", "made.depth.zlib"]),
    ]
    + ["ios-single", "ios-dual", "android-plain"].map { generation in
      Scene(
        family: "multiscan", generation: generation,
        streams: [
          Stream(
            name: "pictures",
            stores: [.video(generation == "ios-dual" ? "made-primary.mp4" : "made.mp4")])
        ], sides: ["made.rot", generation == "android-plain" ? "made.txt" : "made.json"])
    }

  private static func session(_ generation: String, fault: String?) -> Scene {
    let isFiles = generation == "android-wide"
    return Scene(
      family: "vi-slam", generation: generation, fault: fault,
      streams: [
        Stream(
          name: "pictures",
          stores: [
            isFiles ? .files("frames", prefix: "frame_", suffix: ".png") : .video("video.mp4")
          ],
          keys: isFiles || fault != nil ? ["frame_metadata.csv"] : nil),
        Stream(
          name: "rows", stores: [.lines("frame_metadata.csv", head: 1)],
          keys: isFiles ? [] : fault != nil ? ["video.mp4"] : nil),
      ], sides: ["imu_data.csv", "frame_metadata.csv"])
  }

  private static func numbered(
    _ family: String, _ generation: String, _ stores: [(String, ItemStore)], lists: [Stream] = [],
    colorStep: Int = 1, sides: [String], isPacked: Bool = false, inner: String = ""
  ) -> Scene {
    Scene(
      family: family, generation: generation,
      streams: stores.map {
        // Half of the pictures, every third, are every sixth, as some versions write.
        Stream(
          name: $0.0, stores: [$0.1], keys: [], step: $0.0 == "pictures" ? colorStep : 1,
          patterns: $0.0 == "pictures" && colorStep > 1 ? [.first, .last, .one] : Pattern.allCases)
      } + lists, sides: sides, isPacked: isPacked, inner: inner)
  }

  private static func recordLists(_ name: String) -> [Stream] {
    [
      Stream(name: "times of metadata", stores: [.lists(name, ["frameTimestamps"])]),
      Stream(name: "poses of metadata", stores: [.lists(name, ["poses"])]),
      Stream(
        name: "lists of metadata",
        stores: [.lists(name, ["frameTimestamps", "poses", "perFrameIntrinsicCoeffs"])]),
    ]
  }

  private static let record3d =
    ["r3d", "r3d-folder"].map { generation in
      numbered(
        "record3d", generation,
        [
          ("pictures", .files("rgbd", suffix: ".jpg")), ("depth", .files("rgbd", suffix: ".depth")),
          ("confidence", .files("rgbd", suffix: ".conf")),
        ], lists: recordLists("metadata"), sides: ["metadata", "rgbd/*.conf"],
        isPacked: generation == "r3d")
    } + [
      numbered(
        "record3d", "exr",
        [
          ("pictures", .files("rgb", suffix: ".jpg")), ("depth", .files("depth", suffix: ".exr")),
        ], lists: recordLists("metadata.json"), sides: ["rgb", "depth"], inner: "EXR_RGBD")
    ]

  private static let others: [Scene] = [
    numbered(
      "3d-scanner-app", "lidar",
      [
        ("pictures", .files("", prefix: "frame_", suffix: ".jpg")),
        ("depth", .files("", prefix: "depth_", suffix: ".png")),
        ("confidence", .files("", prefix: "conf_", suffix: ".png")),
        ("side files", .files("", prefix: "frame_", suffix: ".json")),
      ], colorStep: 3, sides: ["info.json", "conf_*.png", "depth_*.png", "frame_*.json"]),
    numbered(
      "3d-scanner-app", "high-resolution",
      [
        ("pictures", .files("", prefix: "frame_", suffix: ".jpg")),
        ("side files", .files("", prefix: "frame_", suffix: ".json")),
      ], sides: ["info.json", "frame_*.jpg"]),
    numbered(
      "polycam", "lidar",
      [
        ("pictures", .files("images", suffix: ".jpg")), ("depth", .files("depth", suffix: ".png")),
        ("confidence", .files("confidence", suffix: ".png")),
        ("cameras", .files("cameras", suffix: ".json")),
      ], sides: ["images", "depth", "confidence", "cameras"], inner: "keyframes"),
    numbered(
      "polycam", "photo",
      [
        ("pictures", .files("images", suffix: ".jpg")),
        ("cameras", .files("cameras", suffix: ".json")),
      ], sides: ["cameras"], inner: "keyframes"),
    Scene(
      family: "scannet", generation: "v1",
      streams: [
        Stream(name: "pictures", stores: [.video("made.h264")]),
        Stream(name: "depth", stores: [.records("made.depth")]),
        Stream(name: "camera settings", stores: [.blocks("made.camera", bytes: 20, head: 2)]),
      ], sides: ["made.h264", "made.depth", "made.camera", "made.txt", "made.imu"]),
    Scene(
      family: "strabo", generation: "v1",
      // Nothing tells what was before the first picture of a movie.
      streams: [
        Stream(
          name: "pictures", stores: [.video("*.mov")], patterns: [.last, .one, .several, .half])
      ], sides: ["capture-info.json"]),
  ]

  static let scenes: [Scene] =
    scanners + [
      stray("per-frame-intrinsics"), stray("raw-imu", rate: 30), stray("png", rate: 15),
      stray("npy", hasRealTimes: true), stray("npy", fault: "gap", hasRealTimes: true),
    ] + multiscan + [
      session("v1", fault: nil), session("v1", fault: "gap"), session("android", fault: "gap"),
      session("android-wide", fault: nil),
    ] + record3d + others

  /// What a file holds that versions of the app, or single frames, are without.
  private static func optional(_ file: String) -> Set<FrameContents.Stream> {
    switch file {
    case "rgbd/*.conf": [.confidence]
    case "exif.json": [.exposure, .iso]
    default: []
    }
  }

  // MARK: Runs

  /// The whole capture of a scene, what it carries, and its files.
  private final class Made {
    let folder: TemporaryFolder
    let files: ItemFiles
    let judge: LossJudge

    init(_ scene: Scene) throws {
      folder = try TemporaryFolder()
      var options = SynthesisOptions(output: folder.path)
      (options.id, options.seed, options.truthPictures) = ("made", 3, 0)
      options.generation = scene.isPacked ? "r3d-folder" : scene.generation
      options.faults = [scene.fault].compactMap(\.self)
      (options.frames, options.rate) = (LostItemsTests.frames, scene.rate)
      options.width = scene.family == "record3d" ? 48 : 64
      options.height = scene.family == "record3d" ? 64 : 48
      let hasOwnSize =
        ["arkit-scanner", "vi-slam", "strabo"].contains(scene.family)
        || scene.generation.contains("lidar") && scene.family == "multiscan"
        || scene.generation == "android-arcore"
      if !hasOwnSize { (options.depthWidth, options.depthHeight) = (64, 48) }
      options.showsFrameCode = true
      let made = try SyntheticFamilies.write(scene.family, options)
      try FileSystem.remove(made.truth)
      let video = scene.streams.lazy.compactMap(\.video).first
      let real =
        scene.hasRealTimes
        ? try made.folder.appending("odometry.csv").text()
          .split(separator: "\n").dropFirst().compactMap { Double($0.prefix { $0 != "," }) } : nil
      let synthesized = try ItemFiles(
        made.folder, frames: LostItemsTests.frames, video: video,
        ticks: real.map { times in times.map { Int64((($0 - times[0]) * 600).rounded()) } })
      let whole = folder.path.appending("whole")
      try synthesized.copy(
        to: whole, without: [],
        of: (scene.streams.first?.stores ?? []).map {
          scene.inner.isEmpty ? $0 : $0.inside(scene.inner)
        })
      files = try ItemFiles(whole, frames: LostItemsTests.frames, video: video)
      judge = LossJudge(
        try FrameContents(of: try LostItemsTests.packed(whole, scene)))
    }
  }

  /// The capture's folder as one file, where a scene is that.
  private static func packed(_ folder: FilePath, _ scene: Scene) throws -> FilePath {
    guard scene.isPacked else { return folder }
    var archive = ScratchZIP()
    for name in ["metadata"]
      + (try FileSystem.names(in: folder.appending("rgbd")).map { "rgbd/\($0)" })
    {
      let file = folder.pushing(FilePath(name))
      guard FileSystem.exists(file) else { continue }
      archive.entries.append(.init(name, Array(try file.data())))
    }
    let file = folder.removingLastComponent().appending("made.r3d")
    try Data(archive.make().bytes).write(to: URL(filePath: file.string))
    return file
  }

  /// Removes a file, a folder, or files with what stands around `*`.
  private static func remove(_ name: String, in folder: FilePath) throws {
    let parts = name.split(separator: "*", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2 else { return try FileSystem.remove(folder.pushing(FilePath(name))) }
    let place = parts[0].hasSuffix("/") ? folder.appending(String(parts[0].dropLast())) : folder
    let prefix = parts[0].hasSuffix("/") ? "" : parts[0]
    for file in try FileSystem.names(in: place)
    where file.hasPrefix(prefix) && file.hasSuffix(parts[1]) {
      try FileSystem.remove(place.appending(file))
    }
  }

  @Test(
    "What is left belongs together, or is told to be off by no more than it is", arguments: scenes)
  func left(_ scene: Scene) throws {
    let made = try Made(scene)
    let whole = made.judge.whole
    try #require(whole.errors.isEmpty, "\(whole.errors)")
    let same = made.judge.judge(whole, lost: [], isKeyed: true)
    #expect(same.right == Self.frames || whole.warnings.contains { $0.code == .pairingApproximate })
    for stream in scene.streams {
      let count = (Self.frames - stream.first + stream.step - 1) / stream.step
      var sum = LossVerdict()
      for pattern in Rounds.isSoak ? stream.patterns : [.several]
      where stream.patterns.contains(pattern) {
        let items = pattern.items(of: count)
        let lost = Set(items.map { stream.first + stream.step * $0 })
        let times =
          stream.video == nil || scene.family == "strabo" || !Rounds.isSoak
          ? [.own] : ItemStore.Times.allCases
        for times in times {
          for side in [nil] + (Rounds.isSoak && times == .own ? scene.sides.map(Optional.some) : [])
          {
            if let side, stream.stores.contains(where: { $0.name == side }) { continue }
            let folder = try TemporaryFolder()
            let copy = folder.path.appending("made")
            var stores = stream.stores
            if !scene.inner.isEmpty { stores = stores.map { $0.inside(scene.inner) } }
            try made.files.copy(to: copy, without: items, of: stores, times: times)
            if let side { try Self.remove(side, in: copy.pushing(FilePath(scene.inner))) }
            let contents = try FrameContents(of: try Self.packed(copy, scene))
            // Even times of every second item prove nothing, and numbers only beside all files.
            let isHalf = pattern == .half || pattern == .otherHalf
            let isKeyed =
              times == .own && stream.keys.map { !$0.contains(side ?? "") } ?? false
              && !(isHalf && (side != nil || stream.keys != []))
            var verdict = made.judge.judge(
              contents, lost: lost, isKeyed: isKeyed,
              mayBeWithout: Self.optional(stream.name).union(Self.optional(side ?? ""))
                // Sparse by design: the app does not say which frames have a picture.
                .union(stream.step > 1 ? [.color, .colorTime] : []),
              isBounded: !scene.metadata.contains(side ?? ""))
            if isKeyed, side == nil, stream.name == "pictures" {
              verdict.complaints += made.judge.misnamed(contents, lost: lost)
            }
            sum += verdict
            let what =
              "\(stream.name), \(pattern) lost, times \(times), without \(side ?? "nothing")"
            if !verdict.complaints.isEmpty {
              Issue.record(
                """
                \(what): \(verdict.complaints.prefix(3).joined(separator: "; ")); told: \
                \(contents.warnings.map { "\($0.code.rawValue) \($0.subject) \($0.count): \($0.message)" }.joined(separator: " | "))
                """)
            }
          }
        }
      }
      guard Rounds.isSoak else { continue }
      print(
        "MATRIX|\(scene.testDescription)|\(stream.name)|\(sum.counts.map(String.init).joined(separator: "|"))"
      )
    }
  }

  @Test(
    "Where two streams lost other items, equal numbers prove nothing, and pictures before the first row have their places",
    arguments: scenes.filter { ["stray-scanner", "arkit-scanner"].contains($0.family) })
  func bothEnds(_ scene: Scene) throws {
    let made = try Made(scene)
    let pictures = try #require(scene.streams.first)
    let (start, end): (Set<Int>, Set<Int>) = ([0, 1], [Self.frames - 2, Self.frames - 1])
    let isStray = scene.family == "stray-scanner"
    let allTimes: [ItemStore.Times] = scene.hasRealTimes || !isStray ? [.own] : [.own, .even]
    var ends: [(Set<Int>, Set<Int>)] = [(start, end), (end, start), ([1], [0, 1])]
    if scene.hasRealTimes {
      // What is left of both ends together, while depth shows that there was more.
      let odd = Set(stride(from: 1, to: Self.frames, by: 2))
      let both: [(Set<Int>, Set<Int>)] = [([0], [0, Self.frames - 1]), (odd, [0]), ([0], odd)]
      ends += both
    }
    var losses: [(other: Stream, pairs: [(Set<Int>, Set<Int>)])] =
      scene.streams.dropFirst().map { ($0, ends) }
    if !isStray, pictures.keys != nil {
      // Equal counts everywhere: the numbers of the pictures alone show that something is lost.
      var all = Stream(name: "all others", stores: [])
      for store in scene.streams.dropFirst().flatMap(\.stores)
      where !all.stores.contains(where: { $0.name == store.name }) {
        all.stores.append(store)
      }
      let pairs: [(Set<Int>, Set<Int>)] = [(start, end), ([1, 6], end), ([6, 7], [2, 3])]
      losses.append((all, pairs))
    }
    for (other, pairs) in losses {
      for (first, second) in pairs {
        for times in allTimes {
          let folder = try TemporaryFolder()
          let (half, copy) = (folder.path.appending("half"), folder.path.appending("made"))
          try made.files.copy(to: half, without: first, of: pictures.stores, times: times)
          try ItemFiles(half, frames: Self.frames, video: nil)
            .copy(to: copy, without: second, of: other.stores)
          let contents = try FrameContents(of: copy)
          let verdict = made.judge.judge(contents, lost: first.union(second), isKeyed: false)
          let told = contents.warnings.map { "\($0.code.rawValue) \($0.subject): \($0.message)" }
          #expect(
            verdict.complaints.isEmpty,
            "pictures without \(first.sorted()), times \(times), \(other.name) without \(second.sorted()): \(told)"
          )
        }
      }
    }
  }
}
