import Foundation
import Glibc
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

/// Programs of other people: judges of what we write (FFmpeg, loaders in Python, Chromium), or around us (Slurm).
public enum ForeignPrograms {
  /// Whether tests with them are left out although they may be installed: `make check`.
  public static let areLeftOut = ProcessInfo.processInfo.environment["SCANMILL_CHECK"] == "1"

  /// Why all are left out; empty: they are not.
  public static let absence = areLeftOut ? "left out by make check" : ""

  /// Whether a program is in `PATH` and not left out; of one that is not there it is printed what is not done.
  public static func has(_ program: String, else omission: String) -> Bool {
    if areLeftOut { return false }
    let places = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    if places.contains(where: { access("\($0)/\(program)", X_OK) == 0 }) { return true }
    print("skipped: there is no \(program) in PATH: \(omission)")
    return false
  }
}

/// Looks at files as somebody who may not read everything.
public enum Unprivileged {
  private typealias SetUser = @convention(c) (UInt32) -> Int32

  /// Only root can become somebody else; everybody else is somebody else already.
  public static let isPossible = getuid() == 0

  /// Runs `body` as user `nobody` as far as files are concerned: this thread only (`setfsuid`), what
  /// `body` does on other threads not.
  public static func run<Result>(_ body: () throws -> Result) rethrows -> Result {
    let set = dlsym(nil, "setfsuid").map { unsafeBitCast($0, to: SetUser.self) }
    _ = set?(65534)
    defer { _ = set?(0) }
    return try body()
  }
}

/// How often tests repeat what is left to chance, such as the moment of a kill, or takes long: a few times in every run of the tests,
/// and as often as it takes to meet the rare moments in `make soak`.
public enum Rounds {
  /// `make soak`.
  public static let isSoak = ProcessInfo.processInfo.environment["SCANMILL_SOAK"] == "1"

  public static func of(_ few: Int, soak: Int) -> Int { isSoak ? soak : few }

  /// The first `few` of examples that differ little, all in `make soak`.
  public static func some<Example>(of examples: [Example], _ few: Int) -> [Example] {
    isSoak ? examples : Array(examples.prefix(few))
  }

  /// Every `step`-th of examples that lie beside those that are like them, all in `make soak`.
  public static func every<Example>(_ step: Int, of examples: [Example]) -> [Example] {
    isSoak ? examples : stride(from: 0, to: examples.count, by: step).map { examples[$0] }
  }
}
