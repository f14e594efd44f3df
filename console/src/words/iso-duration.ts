// ISO duration: `P1DT2H` as seconds, for words and fields that have a unit.

const isoDuration = /^P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?)?$/;

/** Undefined for a duration with other parts, such as months. */
export function secondsOfIso(iso: string): number | undefined {
  const parts = isoDuration.exec(iso);
  if (parts === null) return undefined;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = parts
    .slice(1)
    .map((part) => Number(part ?? 0));
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}
