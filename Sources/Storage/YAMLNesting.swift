/// A look at YAML text before a parser descends into it by recursion.
public enum YAMLNesting {
  /// Why a text is not to be parsed, or `nil`: brackets, sequences or indents too deep, or so many
  /// aliases that they may make it endless. Quotes are not minded: texts of ours have few brackets in them.
  ///
  /// Cost: a pass over the bytes.
  public static func problem(in text: String) -> String? {
    if let problem = InputLimits.bytesOfSettings.problem(text.utf8.count) { return problem }
    var brackets = 0
    var aliases = 0
    /// Blanks, dashes and question marks that a line begins with: each pair may open a level.
    var head = 0
    var isHead = true
    var previous = UInt8(ascii: "\n")
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        head = 0
        isHead = true
      case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "?"), UInt8(ascii: "\t"):
        if isHead { head += 1 }
      default:
        isHead = false
        switch byte {
        case UInt8(ascii: "["), UInt8(ascii: "{"): brackets += 1
        case UInt8(ascii: "]"), UInt8(ascii: "}"): brackets = max(0, brackets - 1)
        case UInt8(ascii: "*") where " \n\t[,{-".utf8.contains(previous): aliases += 1
        default: break
        }
      }
      if let problem = InputLimits.depthOfYAML.problem(max(brackets, head / 2))
        ?? InputLimits.aliasesOfYAML.problem(aliases)
      {
        return problem
      }
      previous = byte
    }
    return nil
  }
}
