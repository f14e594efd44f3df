// Browser name: browser and system of a session, as its owner would name them.

// Browsers name those that they are compatible with too, so that the order matters.
const browsers: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(?:e|A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(?:Firefox|FxiOS)\//, 'Firefox'],
  [/\b(?:Chrome|CriOS|HeadlessChrome)\//, 'Chrome'],
  [/\bVersion\/.*Safari\//, 'Safari'],
];
const systems: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bLinux\b/, 'Linux'],
];
const programLengthMax = 40;

/** Undefined for a client that named nothing. */
export function browserNameOf(userAgent: string | null): string | undefined {
  if (userAgent === null || userAgent === '') return undefined;
  const [browser, system] = [browsers, systems].map(
    (names) => names.find(([pattern]) => pattern.test(userAgent))?.[1],
  );
  if (browser === undefined) return userAgent.split(' ')[0]?.slice(0, programLengthMax);
  return system === undefined ? browser : `${browser}, ${system}`;
}
