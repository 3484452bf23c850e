@testable import Core
import FoundationEssentials
import Testing

@testable import Pages

@Suite("Markup")
struct MarkupTests {
  @Test(
    "Text is shown, never obeyed",
    arguments: [
      ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
      (#"" onload="x"#, "&quot; onload=&quot;x"), ("it's & so", "it's &amp; so"),
      ("a\u{1B}[31m\u{0}\r\u{7F}", "a\\u{1B}[31m\\u{0}\\u{D}\\u{7F}"),
      ("abc\u{202E}gpj.exe", "abc\\u{202E}gpj.exe"), ("\u{2066}\u{2028}", "\\u{2066}\\u{2028}"),
      ("שלום ünï 😀 \u{FB01}", "שלום ünï 😀 \u{FB01}"), ("two\nlines\t", "two\nlines\t"),
    ])
  func text(_ text: String, _ shown: String) {
    #expect(Markup(text: text).text == shown)
    #expect(
      Core.Tag.p(Attribute("title", text)).text == "<p title=\"\(shown)\"></p>")
  }

  @Test(
    "Code points that are no characters are shown", arguments: [0xFFFE, 0xFDD0, 0xFDEF, 0x1FFFF])
  func noncharacters(_ value: UInt32) throws {
    let scalar = try #require(Unicode.Scalar(value))
    let hex = String(value, radix: 16, uppercase: true)
    #expect(Markup(text: "a\(scalar)b").text == "a\\u{\(hex)}b")
  }

  @Test("Bytes of names that are no text are shown as %XX")
  func oddBytes() {
    let name = PathText.text(of: [0x61, 0xFF, 0x3C, 0xC3])
    #expect(Markup.name(name).text == "<bdi>a%FF&lt;%C3</bdi>")
    #expect(PageAddress.file([name]).text == "./a%FF%3C%C3")
  }

  @Test("A path breaks after its slashes, a command line not after the hyphens of an option")
  func breaks() {
    #expect(Markup.path("/in//a b/c/").text == "<bdi>/<wbr>in//<wbr>a b/<wbr>c/</bdi>")
    #expect(Markup.path("a\n<b>").text == "<bdi>a\\u{A}&lt;b&gt;</bdi>")
    #expect(
      Markup.command("scanmill run  in/a --output 'o u'").text
        == "scanmill run  in/<wbr>a <span class=\"option\">--output</span> 'o u'")
    let long = "--" + String(repeating: "x", count: 40)
    #expect(Markup.command(long).text == long)
  }

  @Test("A name keeps its direction to itself and is one line")
  func names() {
    #expect(Markup.name("שם\n\t2").text == "<bdi>שם\\u{A}\\u{9}2</bdi>")
    let long = String(repeating: "<", count: 4096)
    #expect(Markup.name(long).text.utf8.count == 4096 * 4 + "<bdi></bdi>".utf8.count)
  }

  @Test(
    "No address has a scheme, whatever the names",
    arguments: [
      "javascript:alert(1)", "JaVaScRiPt:alert(1)", "data:text/html,x", "//host/x", "https://host",
      "\u{1}javascript:x", " javascript:x", "a\"b'c<d>", "%2e%2e", "..\\x", "a?b#c", "",
    ])
  func addresses(_ name: String) {
    for address in [PageAddress.file([name, "report.html"]), .file([name]), .fragment(name)] {
      #expect(address.text.hasPrefix("./") || address.text.hasPrefix("#"))
      let rest = address.text.dropFirst()
      #expect(!rest.contains(":") && !rest.contains("\\") && !rest.contains("?"))
      #expect(rest.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"'<>`".utf8.contains($0) })
    }
  }

  @Test(
    "A path that leaves the folder of the page, or means nothing, is no address",
    arguments: ["", "/etc/passwd", "../x", "a/../../x", "a//b", "./a", "a/"])
  func outside(_ path: String) {
    #expect(PageAddress.below(path) == nil)
    #expect(PageAddress.below("scan 1/report.html")?.text == "./scan%201/report.html")
  }

  @Test("An attribute that loads, leads, runs or styles takes no text")
  func attributes() {
    let refused = [
      Attribute("href", "x"), Attribute("SRC", "x"), Attribute("style", "x"),
      Attribute("onclick", "x"), Attribute("OnLoad", "x"), Attribute("xlink:href", "x"),
      Attribute("srcdoc", "x"), Attribute("formaction", "x"), Attribute("http-equiv", "x"),
      Attribute("a b", "x"), Attribute("a>", "x"), Attribute(flag: "onerror"),
    ]
    #expect(Core.Tag.div(refused).text == "<div></div>")
    #expect(
      Core.Tag.svg(Attribute("viewBox", "0 0 1 1"), Attribute("x", 3)).text
        == #"<svg viewBox="0 0 1 1" x="3"></svg>"#)
    #expect(Core.Tag.a(.link(.file(["a:b"]))).text == #"<a href="./a%3Ab"></a>"#)
    #expect(Core.Tag.use(.shape("mark")).text == ##"<use href="#mark"></use>"##)
  }

  @Test("Elements nest, lists join, and what is void has no end")
  func nesting() {
    let list = Core.Tag.ul {
      for number in 1...2 {
        Core.Tag.li {
          "\(number)"
          if number == 2 { Core.Tag.br() }
        }
      }
    }
    #expect(list.text == "<ul><li>1</li><li>2<br></li></ul>")
  }

  @Test("A document names its style and script by digest and runs nothing else")
  func document() throws {
    let page = String(
      decoding: Markup.document(
        head: Core.Tag.title { "</title><script>" }, style: .common, script: .common,
        body: Core.Tag.h1 { "x" }), as: UTF8.self)
    #expect(page.hasPrefix("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"))
    let policy = Markup.policy(style: .common, script: .common)
    #expect(
      policy.wholeMatch(
        of:
          /default-src 'none'; img-src data:; style-src 'sha256-[A-Za-z0-9+\/]{43}='; script-src 'sha256-[A-Za-z0-9+\/]{43}='; base-uri 'none'; form-action 'none'/
      ) != nil)
    #expect(page.contains("content=\"\(policy)\">"))
    #expect(page.contains("<title>&lt;/title&gt;&lt;script&gt;</title>"))
    #expect(page.contains("name=\"viewport\"") && page.contains("name=\"generator\""))
    #expect(page.components(separatedBy: "<script>").count == 2)
    #expect(!PageScript.common.text.contains("</") && !PageStyle.common.text.contains("</"))
    // What the browser hashes is the text between the tags: no line end that it would change.
    #expect(!page.contains("\r"))
  }
}

extension Markup {
  var text: String { String(decoding: bytes, as: UTF8.self) }
}
