import FoundationEssentials
import SystemPackage
import TestSupport
import Testing

@testable import Core
@testable import Media

/// Pictures of a bare stream are destroyed: their heads may read like others, with numbers that leap.
@Suite("Destroyed pictures make no others", .enabled(if: FFmpegPeer.isInstalled))
struct H264FrameChainTests {
  enum Damage: String, CaseIterable, CustomTestStringConvertible {
    /// All behind the unit's first byte.
    case ones, zeros, random
    /// The unit's first byte, too: it is no slice any more.
    case onesThroughout
    /// Eight bytes of the head alone.
    case headOnes, headRandom
    /// All but the head.
    case contentOnes
    var testDescription: String { rawValue }

    func apply(to unit: inout ArraySlice<UInt8>, seed: Int) {
      var random = SeededGenerator(seed: UInt64(seed))
      let content = unit.indices.dropFirst()
      let (places, byte): (Range<Int>, UInt8?) =
        switch self {
        case .ones: (content, 0xff)
        case .zeros: (content, 0)
        case .random: (content, nil)
        case .onesThroughout: (unit.indices, 0xff)
        case .headOnes: (content.prefix(8), 0xff)
        case .headRandom: (content.prefix(8), nil)
        case .contentOnes: (content.dropFirst(12), 0xff)
        }
      for index in places { unit[index] = byte ?? .random(in: 4...255, using: &random) }
    }
  }

  struct Stream: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var options: [String]
    var isReordered = false
    /// Lost pictures can be told from the numbers of those that follow.
    var hasNumbers = true
  }

  static let streams = [
    Stream(testDescription: "P pictures", options: ["-bf", "0", "-g", "20"]),
    Stream(
      testDescription: "B pictures",
      options: ["-bf", "3", "-g", "20", "-x264-params", "b-adapt=0:scenecut=0"], isReordered: true,
      hasNumbers: false),
    Stream(
      testDescription: "without arithmetic coding", options: ["-profile:v", "baseline", "-g", "20"]),
    Stream(testDescription: "key pictures alone", options: ["-g", "1"], hasNumbers: false),
  ]

  /// In decoding order: alone, adjacent and apart, at the beginning, in the middle, at the end, around a key picture.
  static let places: [[Int]] = [
    [13], [13, 14], [13, 16], [5, 6, 7], [0], [0, 1], [1, 2], [19, 20], [20, 21], [37, 38],
    [38, 39], [3, 27],
  ]

  @Test(
    "As many pictures as before, each at its index, whether their number is stated or not",
    arguments: Damage.allCases, streams)
  func destroyed(damage: Damage, stream: Stream) throws {
    let folder = try TemporaryFolder()
    let whole = folder.path.appending("whole.h264")
    try FFmpegPeer.makeVideo(
      whole, size: "64x48", pictures: 40, VideoIdentityTests.x264 + stream.options)
    let bytes = [UInt8](try whole.data())
    let intact = try decodedPictures(of: whole).pictures
    let slices = VideoHoleTests.slices(of: bytes)
    try #require(intact.count == 40 && slices.count == 40)
    let order = try #require(try VideoIndex.read(whole).tracks.first).order
    // Every place has some of the damages; `make soak` does all.
    let shift = try #require(Damage.allCases.firstIndex(of: damage))
    for (number, places) in Self.places.enumerated()
    where Rounds.isSoak || (number + shift) % 3 == 0 {
      let comment: Comment = "\(damage), \(stream.testDescription), \(places)"
      // Without its unit a picture leaves a trace only in the numbers: not one that nothing refers to, nor a key
      // picture at the beginning or behind another one that is lost, nor the last ones.
      let leavesTrace =
        damage != .onesThroughout
        || stream.hasNumbers && places.allSatisfy { (1..<37).contains($0) } && places != [19, 20]
      guard leavesTrace else { continue }
      var damaged = bytes
      for place in places { damage.apply(to: &damaged[slices[place]], seed: place) }
      let file = folder.path.appending("damaged.h264")
      try file.write(damaged)
      for stated in [[], [40], [12, 40]] as [Set<Int>] {
        let track = try VideoIndex.read(file, statedCounts: stated).tracks.first
        #expect(track?.pictureCount == 40, comment)
        // Where pictures are reordered, only those that follow tell the place of a destroyed one; and a random head may
        // read like a true one.
        let isCertain =
          !stream.isReordered || (damage != .headRandom && places.allSatisfy { $0 < 37 })
        let moved = (0..<40).filter {
          !places.contains($0) && track?.order.displayIndex($0) != order.displayIndex($0)
        }
        #expect(moved.isEmpty || !isCertain, comment)
      }
      let decoded = try decodedPictures(of: file)
      let indices = decoded.indices.compactMap(\.self)
      #expect(indices.count == decoded.pictures.count, comment)
      #expect(Set(indices).count == indices.count, comment)
      let groups = Set(places.map { $0 / 20 })
      let moved = zip(indices, decoded.pictures).filter { index, picture in
        !groups.contains(index / 20) && (index >= 40 || picture != intact[index])
      }.map(\.0)
      // The last pictures before a destroyed key picture may be shown in its place.
      #expect(moved.allSatisfy { index in places.contains { abs($0 - index) < 4 } }, comment)
    }
  }

  /// Cuts whole units out, as an app or a network does that loses pictures.
  static func without(_ lost: [Int], _ bytes: [UInt8]) -> [UInt8] {
    var left = bytes
    for slice in lost.sorted(by: >).map({ VideoHoleTests.slices(of: bytes)[$0] }) {
      // With the start code.
      left.removeSubrange((slice.lowerBound - 3)..<slice.upperBound)
    }
    return left
  }

  @Test(
    "Pictures that were lost on the way leave holes where the numbers leap",
    arguments: [[13], [13, 14], [5, 8], [5, 26], [18], [17, 18]])
  func lost(lost: [Int]) throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("lossy.h264")
    try FFmpegPeer.makeVideo(
      file, size: "64x48", pictures: 40, VideoIdentityTests.x264 + ["-bf", "0", "-g", "20"])
    let intact = try decodedPictures(of: file).pictures
    let bytes = Self.without(lost, [UInt8](try file.data()))
    try file.write(bytes)
    for stated in [[], [40]] as [Set<Int>] {
      #expect(try VideoIndex.read(file, statedCounts: stated).tracks.first?.pictureCount == 40)
    }
    // The metadata knows of as many as there are: the app counted after it had lost them.
    let left = 40 - lost.count
    #expect(try VideoIndex.read(file, statedCounts: [left]).tracks.first?.pictureCount == left)
    // Two accounts that differ leave it to the numbers.
    #expect(try VideoIndex.read(file, statedCounts: [left, 40]).tracks.first?.pictureCount == 40)
    let decoded = try decodedPictures(of: file)
    #expect(decoded.indices.compactMap(\.self) == (0..<40).filter { !lost.contains($0) })
    let groups = Set(lost.map { $0 / 20 })
    for (index, picture) in zip(decoded.indices.compactMap(\.self), decoded.pictures)
    where !groups.contains(index / 20) {
      #expect(picture == intact[index])
    }
  }

  @Test("A lost picture and destroyed ones in one stream")
  func lostAndDestroyed() throws {
    let folder = try TemporaryFolder()
    let file = folder.path.appending("both.h264")
    try FFmpegPeer.makeVideo(
      file, size: "64x48", pictures: 40, VideoIdentityTests.x264 + ["-bf", "0", "-g", "20"])
    var bytes = [UInt8](try file.data())
    let slices = VideoHoleTests.slices(of: bytes)
    for place in [25, 26] { Damage.ones.apply(to: &bytes[slices[place]], seed: 1) }
    bytes = Self.without([7], bytes)
    try file.write(bytes)
    let decoded = try decodedPictures(of: file)
    #expect(try VideoIndex.read(file).tracks.first?.pictureCount == 40)
    #expect(Set(decoded.indices.compactMap(\.self)) == Set(0..<40).subtracting([7, 25, 26]))
  }

  @Test(
    "Destroyed samples of a movie make no others and move none",
    arguments: [("libx264", "mp4"), ("libx264", "mov"), ("libx265", "mov")], [0, 3])
  func movies(kind: (String, String), bFrames: Int) throws {
    let folder = try TemporaryFolder()
    let movie = folder.path.appending("movie.\(kind.1)")
    let isHEVC = kind.0 == "libx265"
    let coder =
      isHEVC
      ? [
        "-c:v", "libx265", "-pix_fmt", "yuv420p", "-x265-params",
        "log-level=none:keyint=20:min-keyint=20:scenecut=0:open-gop=0:bframes=\(bFrames):b-adapt=0:frame-threads=1:pools=1",
        "-tag:v", "hvc1",
      ] : VideoIdentityTests.x264 + ["-bf", "\(bFrames)", "-g", "20"]
    try FFmpegPeer.makeVideo(movie, size: "64x64", pictures: 40, coder)
    let intact = try decodedPictures(of: movie).pictures
    try #require(intact.count == 40)
    let whole = [UInt8](try movie.data())
    let samples = Self.slices(ofMovie: whole, isHEVC: isHEVC)
    let order = try #require(try VideoIndex.read(movie).tracks.first).order
    try #require(samples.count == 40)
    for places in [[13], [13, 14], [3, 6, 7], [37, 38]] {
      for damage in [Damage.ones, .random, .headOnes] {
        var bytes = whole
        for place in places {
          var slice = bytes[samples[place]]
          if isHEVC { slice = slice.dropFirst() }
          damage.apply(to: &slice, seed: place)
          bytes.replaceSubrange(slice.startIndex..<slice.endIndex, with: slice)
        }
        let file = folder.path.appending("damaged.\(kind.1)")
        try file.write(bytes)
        let comment: Comment = "\(kind) \(bFrames) \(damage) \(places)"
        let track = try VideoIndex.read(file).tracks.first
        #expect(track?.pictureCount == 40, comment)
        let ranks = (0..<40).filter {
          !places.contains($0) && track?.order.displayIndex($0) != order.displayIndex($0)
        }
        // A random head of HEVC may read like a true one, and FFmpeg decode what follows without a word.
        #expect(ranks.isEmpty || (isHEVC && damage == .random), comment)
        let decoded = try decodedPictures(of: file)
        let indices = decoded.indices.compactMap(\.self)
        #expect(
          indices.count == decoded.pictures.count && Set(indices).count == indices.count, comment)
        let groups = Set(places.map { $0 / 20 })
        let moved = zip(indices, decoded.pictures).filter { index, picture in
          !groups.contains(index / 20) && picture != intact[index]
        }.map(\.0)
        #expect(moved.isEmpty, comment)
        #expect(decoded.counts.damagedPictures + 40 - indices.count > 0, comment)
      }
    }
  }

  /// The slices of a movie's samples with the bytes of their units, found behind lengths of four bytes.
  static func slices(ofMovie bytes: [UInt8], isHEVC: Bool) -> [Range<Int>] {
    guard
      let payload = bytes.indices.dropLast(8).first(where: {
        bytes[$0..<$0 + 4].elementsEqual("mdat".utf8)
      })
    else { return [] }
    let end = payload - 4 + bytes[payload - 4..<payload].reduce(0) { $0 << 8 | Int($1) }
    var place = payload + 4
    var found: [Range<Int>] = []
    while place + 4 < end {
      let length = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
      let type = isHEVC ? bytes[place + 4] >> 1 & 0x3f : bytes[place + 4] & 0x1f
      if isHEVC ? type < 32 : [1, 5].contains(type) {
        found.append(place + 4..<place + 4 + length)
      }
      place += 4 + length
    }
    return found
  }
}

@Suite("Which decoded picture is which")
struct PictureOrderTests {
  static func order(_ orders: [Int?], isReordered: Bool = true) -> PictureOrder {
    PictureOrder(
      positions: orders.map { $0.map { DisplayPosition(sequence: 1, order: $0) } },
      isReordered: isReordered)
  }

  static func ranks(_ order: PictureOrder) -> [Int] { (0..<order.count).map(order.displayIndex) }

  @Test(
    "Ranks and delay come from the order counts",
    arguments: [
      ([0, 2, 4, 6], [0, 1, 2, 3], 0),
      // One B picture between two others.
      ([0, 4, 2, 8, 6], [0, 2, 1, 4, 3], 1),
      // A pyramid.
      ([0, 8, 4, 2, 6, 16, 12, 10, 14], [0, 4, 2, 1, 3, 8, 6, 5, 7], 2),
      // P pictures alone, the first shown last: it must wait for three.
      ([0, 8, 2, 4, 6, 10], [0, 4, 1, 2, 3, 5], 1),
      ([0, 8, 6, 4, 2, 10], [0, 4, 3, 2, 1, 5], 3),
      ([], [], 0),
    ] as [([Int], [Int], Int)])
  func ranks(orders: [Int], expected: [Int], delay: Int) {
    let order = Self.order(orders)
    #expect(Self.ranks(order) == expected)
    #expect(order.delay == delay)
    #expect(order.sorted(orders) == orders.sorted())
  }

  @Test(
    "A picture with a damaged head takes the place that the others leave free",
    arguments: [
      ([0, nil, 4, 2, 6, 16, 12, 10, 14], [0, 4, 2, 1, 3, 8, 6, 5, 7]),
      ([0, 8, 4, nil, 6, 16, 12, 10, 14], [0, 4, 2, 1, 3, 8, 6, 5, 7]),
      // The place of another: the later one is not believed.
      ([0, 8, 4, 4, 6, 16, 12, 10, 14], [0, 4, 2, 1, 3, 8, 6, 5, 7]),
      ([0, 2, nil, 6, 8], [0, 1, 2, 3, 4]), ([nil, nil, nil], [0, 1, 2]),
    ] as [([Int?], [Int])])
  func damaged(orders: [Int?], expected: [Int]) {
    #expect(Self.ranks(Self.order(orders)) == expected)
  }

  @Test("Where display order is known to be decoding order, no damage moves a picture")
  func notReordered() {
    let order = Self.order([0, 2, 60, nil, 4, 4, 10], isReordered: false)
    #expect(Self.ranks(order) == Array(0..<7))
    #expect(order.delay == 0)
  }

  @Test("A new sequence comes after all of the one before; times place what the heads do not")
  func sequencesAndTimes() {
    let places = [(1, 0), (1, 4), (1, 2), (2, 0), (2, 4), (2, 2)].map {
      DisplayPosition(sequence: $0.0, order: $0.1)
    }
    #expect(Self.ranks(PictureOrder(positions: places)) == [0, 2, 1, 3, 5, 4])
    var damaged: [DisplayPosition?] = places
    damaged[4] = nil
    let ticks: [Int64] = [0, 20, 10, 30, 50, 40]
    #expect(Self.ranks(PictureOrder(positions: damaged, ticks: ticks)) == [0, 2, 1, 3, 5, 4])
    let none = [DisplayPosition?](repeating: nil, count: 6)
    #expect(Self.ranks(PictureOrder(positions: none, ticks: ticks)) == [0, 2, 1, 3, 5, 4])
  }

  @Test("Times that go back move no picture whose position is known")
  func times() {
    let order = PictureOrder(
      positions: [0, 2, 4, 6].map { DisplayPosition(sequence: 1, order: $0) },
      ticks: [0, 10, 5, 30])
    #expect(Self.ranks(order) == [0, 1, 2, 3])
  }
}
