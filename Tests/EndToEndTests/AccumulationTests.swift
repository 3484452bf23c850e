import Foundation
import TestSupport
import Testing

/// Random requests, one after the other, over captures of four families: what was asked for before stays done.
@Suite("An output accumulates, whatever is asked for in whatever order", .runsPrograms)
struct AccumulationTests {
  private static let steps = 5
  /// One sequence of so many has workers. The others do the same in the process of the run.
  private static let withWorkers: UInt64 = 8

  /// All, or those that `SCANMILL_SEED` names: one of a failure that was told, or `FIRST-LAST`.
  private static var seeds: [UInt64] {
    let named = (ProcessInfo.processInfo.environment["SCANMILL_SEED"] ?? "").split(separator: "-")
      .compactMap { UInt64($0) }
    guard let first = named.first, let last = named.last, first <= last else {
      return Array(0..<UInt64(Rounds.of(4, soak: 2_000)))
    }
    return Array(first...last)
  }

  @Test(arguments: seeds)
  func sequence(_ seed: UInt64) throws {
    let hasWorkers = seed.isMultiple(of: Self.withWorkers)
    var generator = SeededGenerator(seed: seed &* 7919 &+ 43)
    var model = try AccumulationModel(hasWorkers: hasWorkers)
    var history: [AccumulationStep] = []
    while history.count < Self.steps, model.problems.isEmpty {
      let step = model.next(&generator)
      history.append(step)
      try model.take(step)
    }
    if model.problems.isEmpty { return }
    let (shortest, problems) = try Self.shortest(history, model.problems, hasWorkers)
    Issue.record("SCANMILL_SEED=\(seed): \(shortest)\n\(problems.joined(separator: "\n"))")
  }

  /// Leaves out one step after the other, as long as the last one, and none before it, does something wrong.
  private static func shortest(
    _ history: [AccumulationStep], _ problems: [String], _ hasWorkers: Bool
  ) throws -> ([AccumulationStep], [String]) {
    var (history, problems) = (history, problems)
    for index in history.indices.dropLast().reversed() {
      var fewer = history
      fewer.remove(at: index)
      var model = try AccumulationModel(hasWorkers: hasWorkers)
      for step in fewer.dropLast() where model.problems.isEmpty { try model.take(step) }
      guard model.problems.isEmpty, let last = fewer.last else { continue }
      try model.take(last)
      if !model.problems.isEmpty { (history, problems) = (fewer, model.problems) }
    }
    return (history, problems)
  }
}
