// Zone note: names the zone of the times shown, where it is not that of the browser.
import { browserZone } from '../words/formats.ts';
import { useFormats, useWords } from '../words/language.tsx';
import { wordSet } from '../words/word-set.ts';

export function ZoneNote() {
  const { zone } = useFormats();
  const words = useWords(zoneWords);
  if (zone === browserZone) return null;
  return (
    <small className="faint" title={words.why(browserZone)}>
      {words.times(zone)}
    </small>
  );
}

// Words of the note about the zone of times.

const zoneWords = wordSet(
  {
    times: (zone: string) => `Times in ${zone}`,
    why: (own: string) => `Your browser is in ${own}. You can change the setting in your account.`,
  },
  {
    times: (zone: string) => `Zeiten in ${zone}`,
    why: (own: string) =>
      `Ihr Browser ist in ${own}. Sie können die Einstellung in Ihrem Konto ändern.`,
  },
);
