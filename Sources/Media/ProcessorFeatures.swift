import CPlatform

/// Instruction sets that the inner loops use beyond the baseline of the architecture.
public enum ProcessorFeatures {
  /// The architecture that this program was built for.
  public static let architecture: String = {
    #if arch(x86_64)
      "x86-64"
    #elseif arch(arm64)
      "arm64"
    #else
      "other"
    #endif
  }()

  /// Names of the instruction sets in use; may be empty. They do not change results.
  public static let inUse: [String] = scanmill_gray_has_wide() ? ["AVX2", "BMI1", "BMI2"] : []

  /// One line for the output of `--version`.
  public static let text =
    architecture + (inUse.isEmpty ? "" : " with " + inUse.joined(separator: ", "))
}
