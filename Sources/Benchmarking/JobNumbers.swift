import FoundationEssentials

/// Numbers of jobs that are measured one after the other, as in `1,2,4`; 0 stands for all cores.
public struct JobNumbers: Hashable, Sendable {
  /// Ascending, without repetitions; at least one.
  public let numbers: [Int]

  private static let allowed = 0...4096

  /// Fails if the text is no list of numbers from 0 to 4096.
  public init?(_ text: String) {
    let numbers = text.split(separator: ",", omittingEmptySubsequences: false).map { Int($0) }
    let valid = numbers.compactMap(\.self).filter(Self.allowed.contains)
    guard !valid.isEmpty, valid.count == numbers.count else { return nil }
    self.numbers = Set(valid).sorted()
  }

  /// Cores that a number of jobs stands for.
  public static func cores(of jobs: Int) -> Int {
    jobs == 0 ? ProcessInfo.processInfo.activeProcessorCount : jobs
  }

  /// The number of jobs that uses the most cores.
  var largest: Int { numbers.max { Self.cores(of: $0) < Self.cores(of: $1) } ?? 0 }
}
