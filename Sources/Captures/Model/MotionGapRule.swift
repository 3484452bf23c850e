/// Decides which steps between samples of one sensor are gaps.
public enum MotionGapRule: Hashable, Sendable {
  /// Steps above three median steps and of at least 50 ms.
  case threeMedianSteps
  /// Steps above a fixed length: for apps whose sample times jitter.
  case above(nanoseconds: Int64)

  /// Threshold in nanoseconds; infinite if the median is needed but unknown.
  public func threshold(medianNanoseconds median: Double?) -> Double {
    switch self {
    case .threeMedianSteps: max(3 * (median ?? .infinity), 50e6)
    case .above(let nanoseconds): Double(nanoseconds)
    }
  }
}
