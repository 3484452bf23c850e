import CPlatform

/// What of this processor the inner loops use beyond what every processor of its kind has.
public enum ProcessorFeatures {
  /// The kind of processor that this program is made for.
  public static let architecture: String = {
    #if arch(x86_64)
      "x86-64"
    #elseif arch(arm64)
      "arm64"
    #else
      "other"
    #endif
  }()

  /// Names of the instruction sets in use; empty where there are none, and results are the same.
  public static let inUse: [String] = scanmill_gray_has_wide() ? ["AVX2", "BMI1", "BMI2"] : []

  /// One line for `--version`.
  public static let text =
    architecture + (inUse.isEmpty ? "" : " with " + inUse.joined(separator: ", "))
}
