import Core

extension PageStyle {
  /// The common style for a night of which captures were judged: their table has a column more. Pages of other
  /// nights stay as they are.
  static let judgedNight = PageStyle(
    text: common.text + """
      @media screen and (min-width:40rem){
      #captures.judged tr{grid-template-columns:9.5rem minmax(0,2fr) minmax(0,1.2fr) minmax(0,1fr) \
      5.5rem 7.5rem 6.5rem 5rem}
      }
      @media (max-width:39.99rem){
      #captures td:nth-child(8)::before{content:"Quality"}
      }
      #captures td[data-quality=poor]{font-weight:600}
      #devices td p{margin:0}

      """)
}
