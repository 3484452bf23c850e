/// Divides a row of things evenly.
public enum EvenWindows {
  /// Parts `m` things into windows: window k contains ⌊k·m/count⌋ to ⌊(k+1)·m/count⌋ - 1. If there are more windows
  /// than things, empty ones are left out.
  public static func windows(of m: Int, count: Int) -> [Range<Int>] {
    // At most one window per thing: more would be empty.
    guard count < m else { return (0..<max(0, m)).map { $0..<$0 + 1 } }
    return (0..<max(0, count)).map { k in
      // k·m overflows 64 bits only for counts above m.
      (k * m / count)..<((k + 1) * m / count)
    }
  }
}
