// Types of the package subset-font, as far as the fonts of console and documents use it.
declare module 'subset-font' {
  interface SubsetOptions {
    readonly targetFormat: 'woff2' | 'sfnt';
    /** Narrows the axes of a variable font, or fixes them. */
    readonly variationAxes?: Readonly<
      Record<string, number | { readonly min: number; readonly max: number }>
    >;
  }
  /** `text` has every character that the result can show. */
  function subsetFont(font: Buffer, text: string, options: SubsetOptions): Promise<Buffer>;
  export default subsetFont;
}
