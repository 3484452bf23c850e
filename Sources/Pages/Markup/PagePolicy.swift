import FoundationEssentials
import Storage

/// A style sheet of the program. There is one per kind of page, identified by its digest in the
/// policy.
struct PageStyle: Sendable {
  let text: String
}

/// A script of the program.
struct PageScript: Sendable {
  let text: String
}

/// The content security policy: only the page's own style, script and embedded pictures.
enum PagePolicy {
  static func text(style: PageStyle, script: PageScript?) -> String {
    var parts = ["default-src 'none'", "img-src data:", "style-src '\(digest(style.text))'"]
    parts.append(script.map { "script-src '\(digest($0.text))'" } ?? "script-src 'none'")
    parts += ["base-uri 'none'", "form-action 'none'"]
    return parts.joined(separator: "; ")
  }

  private static func digest(_ text: String) -> String {
    "sha256-" + Base64Text.of(Digest(of: text).bytes)
  }
}

enum Base64Text {
  static func of(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}
