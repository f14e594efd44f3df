// Zone note: names the zone of the times shown, where it is not that of the browser.
import { browserZone } from '../../words/formats.ts';
import { useFormats, useWords } from '../../words/language.tsx';
import { zoneWords } from './zone-words.ts';

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
