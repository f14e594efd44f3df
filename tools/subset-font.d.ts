// Types of the package subset-font, as far as the console's build uses it.
declare module 'subset-font' {
  interface SubsetOptions {
    readonly targetFormat: 'woff2';
    /** Narrows the axes of a variable font. */
    readonly variationAxes?: Readonly<
      Record<string, { readonly min: number; readonly max: number }>
    >;
  }
  /** `text` has every character that the result can show. */
  function subsetFont(font: Buffer, text: string, options: SubsetOptions): Promise<Buffer>;
  export default subsetFont;
}
