// Spark line: the course of a value in the space of a word; gaps stay gaps.

interface SparkProps {
  readonly points: readonly (number | null)[];
  /** A colour of the palette, such as `var(--c1)`. */
  readonly color?: string;
}

const width = 100;
const height = 28;
const margin = 2;

export function Spark({ points, color = 'var(--c1)' }: SparkProps) {
  return (
    <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" aria-hidden="true">
      <path
        d={sparkPath(points)}
        fill="none"
        stroke={color}
        strokeWidth="1.6"
        vectorEffect="non-scaling-stroke"
        strokeLinejoin="round"
        strokeLinecap="round"
      />
    </svg>
  );
}

/** Path of the points, least at the bottom; empty for fewer than two. */
function sparkPath(points: readonly (number | null)[]): string {
  const known = points.filter((point) => point !== null);
  if (known.length < 2) return '';
  const least = known.reduce((a, b) => Math.min(a, b));
  const range = known.reduce((a, b) => Math.max(a, b)) - least || 1;
  let path = '';
  let isGap = true;
  for (const [at, point] of points.entries()) {
    if (point !== null) {
      const x = tenths((at / (points.length - 1)) * width);
      const y = tenths(height - margin - ((point - least) / range) * (height - 2 * margin));
      path += `${isGap ? 'M' : 'L'}${x} ${y}`;
    }
    isGap = point === null;
  }
  return path;
}

const tenths = (value: number): number => Math.round(value * 10) / 10;
