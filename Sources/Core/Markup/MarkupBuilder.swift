/// Builds a page from a list of elements; strings in it are text.
@resultBuilder
public enum MarkupBuilder {
  public static func buildExpression(_ text: String) -> Markup { Markup(text: text) }
  public static func buildExpression(_ markup: Markup) -> Markup { markup }
  public static func buildExpression(_ markup: Markup?) -> Markup { markup ?? .nothing }
  static func buildExpression(_ list: [Markup]) -> Markup { buildArray(list) }
  public static func buildBlock(_ parts: Markup...) -> Markup { buildArray(parts) }
  public static func buildOptional(_ part: Markup?) -> Markup { part ?? .nothing }
  public static func buildEither(first: Markup) -> Markup { first }
  public static func buildEither(second: Markup) -> Markup { second }

  public static func buildArray(_ parts: [Markup]) -> Markup {
    var all = Markup.nothing
    for part in parts { all.append(part) }
    return all
  }
}
