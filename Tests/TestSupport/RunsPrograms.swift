import Foundation
import Testing

/// Trait of a suite whose tests wait for programs: they run on threads of their own, three times as many as there are
/// cores, and keep no thread of the others waiting.
///
/// The pool that tests run on otherwise has one thread per core. A test that waits for a program blocks one of them
/// while the program uses, on average, little more than half of a core.
public struct RunsPrograms: SuiteTrait, TestScoping {
  public func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    let isSerialized = test.traits.contains { $0 is ParallelizationTrait }
    let threads = isSerialized ? WaitingThreads.ofSequences : .shared
    try await withTaskExecutorPreference(threads) { try await function() }
  }
}

extension Trait where Self == RunsPrograms {
  /// Its tests wait for programs.
  public static var runsPrograms: Self { Self() }
}
