// Color sight: contrast by WCAG and distance as people with full color blindness see it.

type Rgb = readonly [red: number, green: number, blue: number];
type Matrix = readonly [Rgb, Rgb, Rgb];

/** Machado, Oliveira and Fernandes 2009, severity 1, for linear light. */
const sights: readonly Matrix[] = [
  [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
];

/** Contrast ratio of two colors such as `#1c1917` (WCAG 2.2), from 1 to 21. */
export function contrastOf(one: string, other: string): number {
  const [light, dark] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => b - a) as [
    number,
    number,
  ];
  return (light + 0.05) / (dark + 0.05);
}

/**
 * Distance of two colors in OKLab x 100: the smallest of normal sight, protanopia, deuteranopia and
 * tritanopia.
 */
export function distanceOf(one: string, other: string): number {
  const [first, second] = [linearOf(one), linearOf(other)];
  const distances = sights.map((sight) => {
    const [a, b] = [okLabOf(seen(sight, first)), okLabOf(seen(sight, second))];
    return Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]) * 100;
  });
  return Math.min(...distances);
}

function luminanceOf(color: string): number {
  const [red, green, blue] = linearOf(color);
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function linearOf(color: string): Rgb {
  const channel = (at: number) => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return [channel(1), channel(3), channel(5)];
}

function seen(matrix: Matrix, color: Rgb): Rgb {
  const row = ([red, green, blue]: Rgb) =>
    Math.min(1, Math.max(0, red * color[0] + green * color[1] + blue * color[2]));
  return [row(matrix[0]), row(matrix[1]), row(matrix[2])];
}

function okLabOf([red, green, blue]: Rgb): Rgb {
  const long = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const middle = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const short = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return [
    0.2104542553 * long + 0.793617785 * middle - 0.0040720468 * short,
    1.9779984951 * long - 2.428592205 * middle + 0.4505937099 * short,
    0.0259040371 * long + 0.7827717662 * middle - 0.808675766 * short,
  ];
}
