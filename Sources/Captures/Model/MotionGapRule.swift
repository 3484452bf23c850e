/// Which steps between samples of one sensor are gaps.
public enum MotionGapRule: Hashable, Sendable {
  /// Those above three median steps that last at least 50 ms.
  case threeMedianSteps
  /// Those above a fixed length: for apps whose sample times jitter.
  case above(nanoseconds: Int64)

  /// Nanoseconds; infinite where the median is needed and not known.
  public func threshold(medianNanoseconds median: Double?) -> Double {
    switch self {
    case .threeMedianSteps: max(3 * (median ?? .infinity), 50e6)
    case .above(let nanoseconds): Double(nanoseconds)
    }
  }
}
