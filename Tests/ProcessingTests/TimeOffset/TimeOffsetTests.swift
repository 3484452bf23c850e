@testable import Core
import Glibc
import TestSupport
import Testing

@testable import Processing
@testable import Synthetic

@Suite("The time offset between camera and gyroscope, from how both turn")
struct TimeOffsetTests {
  private static func found(_ phone: TurningPhone) throws -> TimeOffset {
    try phone.search().result.get()
  }

  private static func refusal(
    _ turns: [CameraTurn], _ gyroscope: GyroscopeIntegral
  ) -> TimeOffsetRefusal? {
    switch TimeOffsetEstimator(searchNanoseconds: 500_000_000).search(turns, gyroscope).result {
    case .success: nil
    case .failure(let refusal): refusal
    }
  }

  /// Rates of pictures and of gyroscopes of the apps.
  static let rates: [(frames: Double, samples: Double)] = [
    (60, 99.8), (30, 100), (60, 60), (30, 60), (10, 100),
  ]

  @Test("It is found to a millisecond in nine of ten recordings at least", arguments: rates)
  func accuracy(frames: Double, samples: Double) throws {
    var random = SeededGenerator(seed: UInt64(frames * 1000 + samples))
    var near = 0
    for seed in 1...10 {
      let offset = Double.random(in: -0.4...0.4, using: &random)
      let phone = TurningPhone(
        seed: UInt64(seed), framesPerSecond: frames, samplesPerSecond: samples,
        offsetSeconds: offset)
      guard case .success(let found) = phone.search().result else { continue }
      if abs(Double(found.nanoseconds) / 1e9 - offset) <= 0.001 { near += 1 }
    }
    #expect(near >= 9, "\(near) of 10")
  }

  /// Recordings in which noise decides: seconds, pictures and readings a second, noise, and the half width in
  /// milliseconds that half of the intervals stay below.
  static let noisy: [(Double, Double, Double, Double, Double)] = [
    (8, 30, 99.8, 8, 3), (20, 30, 100, 16, 6), (8, 30, 60, 4, 2),
  ]

  @Test("The interval holds the true offset about as often as it claims", arguments: noisy)
  func coverage(
    seconds: Double, frames: Double, samples: Double, noise: Double, halfWidth: Double
  ) throws {
    let count = Rounds.of(20, soak: 600)
    var inside = 0
    var determined = 0
    var widths: [Double] = []
    for seed in 1...count {
      var random = SeededRandom(seed: UInt64(seed), "offset")
      let offset = random.uniform(-0.1...0.1)
      let phone = TurningPhone(
        seed: UInt64(1000 + seed), seconds: seconds, framesPerSecond: frames,
        samplesPerSecond: samples, offsetSeconds: offset, noise: noise)
      guard case .success(let found) = phone.search().result else { continue }
      determined += 1
      widths.append(Double(found.highNanoseconds - found.lowNanoseconds) / 2e6)
      let truth = Int64((offset * 1e9).rounded())
      if (found.lowNanoseconds...found.highNanoseconds).contains(truth) { inside += 1 }
    }
    let share = Double(inside) / Double(max(1, determined))
    #expect(determined * 10 >= count * 8, "\(determined) of \(count)")
    // At most 3 of 20 may lie outside; a soak counts well enough for what is claimed.
    #expect(share >= (Rounds.isSoak ? 0.93 : 0.84), "\(inside) of \(determined)")
    #expect(try #require(Median.upper(widths)) < halfWidth, "half widths \(widths)")
  }

  @Test("A dent in the residuals away from their minimum does not become the offset")
  func dents() throws {
    let lags = (-15...15).map { Int64($0) * 2_000_000 }
    for dent in [-24, -22, -20, -18, -16, -14, 20, 22, 24] {
      let residuals = lags.map { lag in
        let distance = Double(lag) / 1e6 - 3
        return lag == Int64(dent) * 1_000_000 ? 0.9 : 1 + distance * distance / 100
      }
      let found = try #require(ResidualMinimum(lags, residuals), "\(dent) ms")
      #expect(abs(found.nanoseconds - 3_000_000) < 1, "\(dent) ms: \(found.nanoseconds)")
    }
  }

  @Test("Axes of the gyroscope may be turned in any way, and its bias does not matter")
  func axesAndBias() throws {
    let phone = TurningPhone(seed: 2, offsetSeconds: 0.0123)
    let plain = try Self.found(phone)
    let turned = phone.samples().map { sample in
      IMUSample(
        timestamp: sample.timestamp, sensor: 0, x: sample.z + 0.3, y: sample.x - 0.2,
        z: sample.y + 0.1)
    }
    let search = TimeOffsetEstimator(searchNanoseconds: 500_000_000)
      .search(phone.turns(), phone.gyroscope(turned))
    let found = try search.result.get()
    #expect(abs(found.nanoseconds - plain.nanoseconds) < 20_000)
  }

  @Test("A camera that stands still or turns too little gives no offset")
  func still() throws {
    for (extent, what) in [(0.0, "still"), (0.02, "slow")] {
      let phone = TurningPhone(extent: extent)
      let refusal = try #require(Self.refusal(phone.turns(), phone.gyroscope()), "\(what)")
      guard case .tooLittleRotation = refusal else {
        Issue.record("\(what): \(refusal)")
        continue
      }
    }
  }

  @Test("Too few frames or too few samples give no offset")
  func short() throws {
    let brief = TurningPhone(seconds: 2)
    guard case .tooShort = try #require(Self.refusal(brief.turns(), brief.gyroscope())) else {
      Issue.record("brief")
      return
    }
    let phone = TurningPhone()
    for samples in [[], Array(phone.samples().prefix(1)), Array(phone.samples().prefix(80))] {
      let refusal = try #require(Self.refusal(phone.turns(), phone.gyroscope(samples)))
      guard case .tooShort = refusal else {
        Issue.record("\(samples.count) samples: \(refusal)")
        continue
      }
    }
    #expect(Self.refusal([], phone.gyroscope()) == .tooShort(turns: 0, seconds: 0))
  }

  @Test("Gaps in the samples are passed over; with too many of them there is no offset")
  func gaps() throws {
    let phone = TurningPhone(seed: 3, seconds: 20, offsetSeconds: -0.02)
    let start = phone.samples()[0].timestamp
    func without(_ isGone: (Double) -> Bool) -> [IMUSample] {
      phone.samples().filter { !isGone(Double($0.timestamp - start) / 1e9) }
    }
    let search = TimeOffsetEstimator(searchNanoseconds: 500_000_000)
    let one = search.search(phone.turns(), phone.gyroscope(without { (8..<9).contains($0) }))
    #expect(abs(try one.result.get().nanoseconds + 20_000_000) < 1_000_000)
    let many = phone.gyroscope(without { $0.truncatingRemainder(dividingBy: 1) > 0.9 })
    guard case .tooShort = try #require(Self.refusal(phone.turns(), many)) else {
      Issue.record("many gaps")
      return
    }
  }

  /// What changes within eight seconds: the offset in seconds by time, and where in the table of blocks what is found.
  static let changes: [(name: String, offset: @Sendable (Double) -> Double)] = [
    ("drift of 1 ms/s", { $0 * 0.001 }), ("drift of 3 ms/s", { $0 * 0.003 }),
    ("25 ms from the middle on", { $0 < 4 ? 0 : 0.025 }),
    ("5 ms from the middle on", { $0 < 4 ? 0 : 0.005 }),
    ("33 ms after two seconds", { $0 < 2 ? 0 : 0.033 }),
    ("25 ms in the last seventh", { $0 < 6.85 ? 0 : 0.025 }),
    ("100 ms in the last seventh", { $0 < 6.85 ? 0 : 0.1 }),
    ("400 ms in the last seventh", { $0 < 6.85 ? 0 : 0.4 }),
    ("100 ms in the first seventh", { $0 < 1.15 ? 0.1 : 0 }),
    ("50 ms in the middle seventh", { (3.4...4.6).contains($0) ? 0.05 : 0 }),
  ]

  @Test("An offset that changes within the recording is told as none, and the blocks show it")
  func changing() throws {
    for (index, change) in Self.changes.enumerated() {
      let phone = TurningPhone(
        seed: UInt64(5 + index), seconds: 8, framesPerSecond: 30, samplesPerSecond: 100)
      let search = TimeOffsetEstimator(searchNanoseconds: 500_000_000)
        .search(phone.turns(), phone.gyroscope(phone.samples(offset: change.offset)))
      guard case .failure(.changing) = search.result else {
        Issue.record("\(change.name): \(search.result)")
        continue
      }
      let errors = search.blocks.compactMap { block -> Double? in
        guard let found = block.nanoseconds, let noise = block.deviationNanoseconds else {
          return nil
        }
        let middle = (phone.seconds(of: block.start) + phone.seconds(of: block.end)) / 2
        return abs(Double(found) / 1e9 - change.offset(middle)) - 4 * Double(noise) / 1e9
      }
      #expect(errors.count >= 8, "\(change.name): \(search.blocks)")
      // A block in which it changes is neither.
      #expect(errors.count { $0 > 0.001 } <= 3, "\(change.name): \(search.blocks)")
    }
  }

  @Test("So is one by pictures, for this or for another reason")
  func changingByPictures() throws {
    let phone = TurningPhone(seed: 3, seconds: 15, framesPerSecond: 30)
    let search = TimeOffsetEstimator(searchNanoseconds: 500_000_000, .pictures).search(
      Self.seen(phone), phone.gyroscope(phone.samples(offset: { $0 < 7.5 ? 0 : 0.025 })))
    #expect(throws: TimeOffsetRefusal.self) { try search.result.get() }
    let known = search.blocks.compactMap(\.nanoseconds)
    let (first, last) = (known.prefix(known.count / 3), known.suffix(known.count / 3))
    #expect(try #require(Median.upper(Array(first))) < 6_000_000, "\(known)")
    #expect(try #require(Median.upper(Array(last))) > 19_000_000, "\(known)")
  }

  @Test("Blocks of a constant offset agree, also in long and noisy recordings")
  func constant() {
    for (seconds, noise) in [(5.0, 1.0), (8, 4), (40, 1)] {
      let phone = TurningPhone(
        seed: 11, seconds: seconds, framesPerSecond: 30, samplesPerSecond: 100,
        offsetSeconds: 0.0123, noise: noise)
      let search = phone.search()
      #expect(throws: Never.self, "\(seconds) s") { try search.result.get() }
      let known = search.blocks.compactMap(\.nanoseconds)
      #expect(known.count >= 8)
      #expect(known.allSatisfy { abs($0 - 12_300_000) < 20_000_000 }, "\(search.blocks)")
    }
  }

  @Test(
    "Readings that are taken with the pictures, too few for straight lines between them, do not move it"
  )
  func readingsByPicture() throws {
    for seed in 1...6 {
      let phone = TurningPhone(
        seed: UInt64(seed), seconds: 8, framesPerSecond: 30, offsetSeconds: 0.02, noise: 0)
      // The latest of 100 readings a second before each picture, 4 ms late.
      var times: [Double] = []
      for frame in phone.frameSeconds.dropFirst(2) {
        let time = ((frame - 0.004) * 100).rounded(.down) / 100
        if time != times.last { times.append(time) }
      }
      let gyroscope = GyroscopeIntegral(
        phone.samples(at: times), longestStepNanoseconds: 150_000_000)
      let found = try TimeOffsetEstimator(searchNanoseconds: 500_000_000)
        .search(phone.turns(), gyroscope).result.get()
      #expect(
        (found.lowNanoseconds...found.highNanoseconds).contains(20_000_000), "\(seed): \(found)")
    }
  }

  @Test("Sensors of two different motions give no offset")
  func strangers() throws {
    let (one, other) = (TurningPhone(seed: 6), TurningPhone(seed: 7))
    #expect(Self.refusal(one.turns(), other.gyroscope()) != nil)
  }

  @Test("A motion that repeats itself within the search gives no offset")
  func periodic() throws {
    func rate(_ seconds: Double) -> Double { cos(2 * .pi * seconds / 0.25) }
    let turns = (0..<300).compactMap { index -> CameraTurn? in
      let start = Double(index) / 30
      return CameraTurn(
        start: Timestamp(nanoseconds: Int64(start * 1e9)),
        end: Timestamp(nanoseconds: Int64((start + 1.0 / 30) * 1e9)),
        rate: SIMD3(rate(start + 1.0 / 60), 0, 0))
    }
    let samples = (0..<1000).map { index in
      IMUSample(
        timestamp: Timestamp(nanoseconds: Int64(index) * 10_000_000), sensor: 0,
        x: 0, y: rate(Double(index) / 100), z: 0)
    }
    let refusal = Self.refusal(
      turns, GyroscopeIntegral(samples, longestStepNanoseconds: 50_000_000))
    switch try #require(refusal) {
    // Which of the equal minima is the best is left to rounding.
    case .ambiguous, .outsideSearch: break
    case let other: Issue.record("\(other)")
    }
  }

  @Test("An offset outside of the search is not told as one at its end")
  func outside() throws {
    for (seed, offset) in [(8, 0.9), (6, 0.8), (1, 0.6), (2, -0.55), (3, 3)] {
      let phone = TurningPhone(seed: UInt64(seed), offsetSeconds: offset)
      #expect(Self.refusal(phone.turns(), phone.gyroscope()) != nil, "\(seed), \(offset) s")
    }
  }

  /// What pictures show of a phone: its rotation, what its motion adds, slowly, and noise.
  private static func seen(_ phone: TurningPhone) -> [CameraTurn] {
    var random = SeededRandom(seed: phone.seed, "pictures")
    let motion = CameraMotion(
      seed: phone.seed, center: Room.cameraCenter, reach: Room.cameraReach)
    return phone.turns().map { turn in
      var turn = turn
      let speed = motion.state(at: phone.seconds(of: turn.start)).velocity
      // Walls are two meters away.
      turn.rate += SIMD3(speed.y, -speed.x, 0) / 2
      turn.rate += SIMD3(random.gaussian(), random.gaussian(), random.gaussian()) * 0.008
      return turn
    }
  }

  @Test("Rotations by pictures hold the camera's motion, too; the quick part of them is enough")
  func pictures() throws {
    var near = 0
    var found = 0
    for seed in 1...10 {
      let offset = 0.03 * Double(seed - 5)
      let phone = TurningPhone(
        seed: UInt64(seed), seconds: 15, framesPerSecond: 30, offsetSeconds: offset)
      let search = TimeOffsetEstimator(searchNanoseconds: 500_000_000, .pictures)
        .search(Self.seen(phone), phone.gyroscope())
      guard case .success(let result) = search.result else { continue }
      found += 1
      if abs(Double(result.nanoseconds) / 1e9 - offset) <= 0.001 { near += 1 }
    }
    #expect(near >= 9, "\(near) of \(found) that were told of 10")
    var wrong = 0
    for seed in 1...10 {
      let phone = TurningPhone(
        seed: UInt64(seed), framesPerSecond: 30, offsetSeconds: seed % 2 == 0 ? 0.75 : -2)
      let search = TimeOffsetEstimator(searchNanoseconds: 500_000_000, .pictures)
        .search(Self.seen(phone), phone.gyroscope())
      if case .success = search.result { wrong += 1 }
    }
    #expect(wrong == 0)
  }

  /// Seeds whose quick part alone fits at some offset of the search, while the right one is 4 s away.
  private static let misleading: [Double: [UInt64]] = [
    4: [2, 22, 24, 30, 41], -4: [12, 22, 32, 40, 48],
  ]

  @Test("An offset far outside of the search is told as none, by poses and by pictures")
  func beyond() throws {
    for offset in [4.0, -4] {
      let seeds = Rounds.isSoak ? Array(1...48) : Self.misleading[offset] ?? []
      for seed in seeds {
        let phone = TurningPhone(
          seed: seed, seconds: 15, framesPerSecond: 30, offsetSeconds: offset)
        let (turns, gyroscope) = (Self.seen(phone), phone.gyroscope())
        for (rule, turns) in [(TimeOffsetRule.poses, phone.turns()), (.pictures, turns)] {
          let search = TimeOffsetEstimator(searchNanoseconds: 500_000_000, rule)
            .search(turns, gyroscope)
          if case .success(let found) = search.result {
            Issue.record("seed \(seed), \(offset) s: \(found)")
          }
        }
      }
    }
  }

  @Test("Poses that jump do not move the estimate")
  func jumps() throws {
    let phone = TurningPhone(seed: 9, offsetSeconds: 0.033)
    var turns = phone.turns()
    for index in stride(from: 20, to: turns.count, by: 50) {
      turns[index].rate = SIMD3(0.8, -0.7, 0.9)
    }
    let search = TimeOffsetEstimator(searchNanoseconds: 500_000_000)
    let found = try search.search(turns, phone.gyroscope()).result.get()
    #expect(abs(found.nanoseconds - 33_000_000) < 1_000_000)
    #expect(found.outliers > 5)
  }

  @Test("The mean of the integral is that of the readings between two times")
  func integral() {
    let samples = (0..<5).map {
      IMUSample(
        timestamp: Timestamp(nanoseconds: Int64($0) * 10_000_000), sensor: 0, x: Double($0), y: 0,
        z: -1)
    }
    let gyroscope = GyroscopeIntegral(samples, longestStepNanoseconds: 10_000_000)
    let points = gyroscope.points(
      at: [-1, 0, 5_000_000, 40_000_000, 40_000_001].map { Timestamp(nanoseconds: $0) },
      shiftedBy: 0)
    #expect(points.map { $0.stretch } == [nil, 0, 0, 0, nil])
    #expect(abs(points[2].sum.x - 0.5 * 0.5 * 0.005) < 1e-12)
    #expect(abs(points[3].sum.x - 0.08) < 1e-12)
  }
  @Test("Between readings the integral is that of a smooth curve, and moments may go back")
  func smooth() {
    // Seven readings in a period, and one that comes shortly after another with another value.
    let times = (0..<40).map { Double($0) / 60 } + [0.500_1]
    let samples = times.sorted().map {
      IMUSample(
        timestamp: Timestamp(nanoseconds: Int64($0 * 1e9)), sensor: 0,
        x: cos(2 * .pi * 9 * $0) + ($0 == 0.500_1 ? 0.1 : 0), y: 0, z: 0)
    }
    let gyroscope = GyroscopeIntegral(samples, longestStepNanoseconds: 50_000_000)
    for order in [[0.1, 0.142, 0.2083], [0.2083, 0.1, 0.142], [0.142, 0.2083, 0.1, 0.142]] {
      let points = gyroscope.points(
        at: order.map { Timestamp(nanoseconds: Int64($0 * 1e9)) }, shiftedBy: 0)
      for (time, point) in zip(order, points) {
        let turned = point.sum.x - points[0].sum.x
        let truth = (sin(2 * .pi * 9 * time) - sin(2 * .pi * 9 * order[0])) / (2 * .pi * 9)
        #expect(abs(turned - truth) < 0.000_2, "\(order), \(time): \(turned), \(truth)")
      }
    }
    let near = gyroscope.points(
      at: [0.49, 0.51].map { Timestamp(nanoseconds: Int64($0 * 1e9)) }, shiftedBy: 0)
    #expect(abs(near[1].sum.x - near[0].sum.x) < 0.022)
  }
}
