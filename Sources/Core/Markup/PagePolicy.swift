import FoundationEssentials

/// A style sheet of the program. There is one per kind of page, identified by its digest in the
/// policy.
package struct PageStyle: Sendable {
  package let text: String

  package init(text: String) { self.text = text }
}

/// A script of the program.
package struct PageScript: Sendable {
  package let text: String

  package init(text: String) { self.text = text }
}

/// The content security policy: only the page's own style, script and embedded pictures.
package enum PagePolicy {
  package static func text(style: PageStyle, script: PageScript?) -> String {
    var parts = ["default-src 'none'", "img-src data:", "style-src '\(digest(style.text))'"]
    parts.append(script.map { "script-src '\(digest($0.text))'" } ?? "script-src 'none'")
    parts += ["base-uri 'none'", "form-action 'none'"]
    return parts.joined(separator: "; ")
  }

  private static func digest(_ text: String) -> String {
    "sha256-" + Base64Text.of(Digest(of: text).bytes)
  }
}

package enum Base64Text {
  package static func of(_ bytes: [UInt8]) -> String { Data(bytes).base64EncodedString() }
}
