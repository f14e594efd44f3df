// Zoom of a chart: the range of the address, from a part of the chart and back.
import { useNavigate } from '@tanstack/react-router';

/** Every zoom is a place in the history of the browser, so that its back button works too. */
export function useZoom() {
  const navigate = useNavigate();
  const change = (part: Readonly<Record<string, string | undefined>>) => {
    const zoomed = (before: object) => ({ ...before, ...part });
    void navigate({ to: '.', search: zoomed as never, resetScroll: false });
  };
  const instant = (seconds: number) => new Date(Math.round(seconds * 1_000)).toISOString();
  return {
    into: (from: number, to: number) =>
      change({ range: undefined, from: instant(from), to: instant(to) }),
    back: () => change({ from: undefined, to: undefined }),
  };
}
