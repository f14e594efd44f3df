// Map notes: what the shapes mean, how long a line is on the ground, and where the outline is from.
import { useFormats, useWords } from '../words/language.tsx';
import { mapStates } from './clusters.ts';
import { mapWords } from './map-words.ts';
import type { StreetsShown } from './street-map.ts';
import { metersPerPixel, scaleLength, type View } from './view.ts';
import styles from './world-map.module.css';

const scalePx = 110;

export function Legend() {
  const words = useWords(mapWords);
  return (
    <ul className={styles['legend']} aria-label={words.legend}>
      {mapStates.map((state) => (
        <li key={state}>
          <StateMark state={state} />
          {words.states[state]}
        </li>
      ))}
    </ul>
  );
}

/** The shape of a state as the map draws it. */
export function StateMark({ state }: { readonly state: (typeof mapStates)[number] }) {
  return (
    <svg className={styles[state]} viewBox="0 0 16 16" aria-hidden="true">
      {state === 'silent' ? <path d="M8 1 15 8 8 15 1 8Z" /> : <circle cx="8" cy="8" r="6" />}
    </svg>
  );
}

interface ScaleBarProps {
  readonly view: View;
  readonly isGrid: boolean;
  readonly isSmall: boolean;
  readonly streets: StreetsShown;
}

export function ScaleBar({ view, isGrid, isSmall, streets }: ScaleBarProps) {
  const { tiles, attribution, map } = streets;
  const words = useWords(mapWords);
  const formats = useFormats();
  const noStreets = map?.kind === 'VECTOR' ? words.vector : (map?.note ?? words.grid);
  const meters = metersPerPixel(view);
  const length = scaleLength(meters, scalePx);
  const said =
    length >= 1_000
      ? words.kilometers(formats.count(length / 1_000))
      : words.meters(formats.count(length));
  return (
    <>
      <span className={styles['scale']} style={{ width: length / meters }}>
        {said}
      </span>
      {attribution !== undefined && tiles !== undefined && <Attribution text={attribution} />}
      {tiles === undefined && !isSmall && <span>{isGrid ? noStreets : words.natural}</span>}
    </>
  );
}

/** OpenStreetMap asks for a link to its license. */
function Attribution({ text }: { readonly text: string }) {
  if (!text.includes('OpenStreetMap')) return <span>{text}</span>;
  return (
    <a
      className={styles['attribution']}
      href="https://www.openstreetmap.org/copyright"
      target="_blank"
      rel="noopener noreferrer"
    >
      {text}
    </a>
  );
}
