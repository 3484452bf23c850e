import Testing

@testable import Engine

@Suite struct NameChoiceTests {
  @Test(
    arguments: [
      ([], true), (["scan"], true), (["x", "sc"], true), (["scan-of…"], true),
      (["scan-of..."], true),
      (["scan-*"], true), (["*-1"], true), (["s?an-of-[0-9]"], true), (["*-2"], false),
      (["can"], false), (["scan-off"], false), (["Scan"], false), (["out-name"], true),
    ] as [([String], Bool)])
  func `beginnings of either name choose`(prefixes: [String], isChosen: Bool) {
    let choice = NameChoice(idPrefixes: prefixes)
    #expect((choice.refusal(ids: ["scan-of-1", "out-name"], names: []) == nil) == isChosen)
  }

  @Test func `patterns win over beginnings`() {
    let choice = NameChoice(idPrefixes: ["a"], excluded: ["*b"])
    #expect(choice.refusal(ids: ["ab"], names: ["ab"]) == "not selected: --exclude *b")
    #expect(choice.refusal(ids: ["ac"], names: ["ac"]) == nil)
    #expect(choice.refusal(ids: ["b"], names: ["c"]) == "not selected by --id")
  }

  @Test func `beginnings that nothing has are known`() {
    let choice = NameChoice(idPrefixes: ["a", "zz", "b…"])
    #expect(choice.unknownPrefixes(among: ["ab", "bc"]) == ["zz"])
    #expect(choice.unknownPrefixes(among: []) == ["a", "zz", "b…"])
  }
}
