// Device card: the chosen device over the map, with its state, position and the way to its page.
import { Link } from '@tanstack/react-router';
import { X } from 'lucide-react';
import { StateMark } from '../../map/map-notes.tsx';
import { mapWords } from '../../map/map-words.ts';
import { Ago } from '../../parts/ago.tsx';
import { Button } from '../../parts/button.tsx';
import { coordinates } from '../../words/coordinates.ts';
import { useLanguage, useWords } from '../../words/language.tsx';
import styles from './map.module.css';
import { mapPageWords } from './map-page-words.ts';
import type { DevicePoint } from './positions.ts';

interface DeviceCardProps {
  readonly workspaceId: string;
  readonly point: DevicePoint;
  readonly close: () => void;
}

export function DeviceCard({ workspaceId, point, close }: DeviceCardProps) {
  const words = useWords(mapPageWords);
  const { language } = useLanguage();
  const states = useWords(mapWords).states;
  const { id, name, state, latitude, longitude, knownAt, lastHeard } = point;
  return (
    <section className={styles['card']} aria-label={name}>
      <header>
        <h2>
          <Link
            to="/w/$workspaceId/devices/$deviceId/overview"
            params={{ workspaceId, deviceId: id }}
          >
            {name}
          </Link>
        </h2>
        <Button look="ghost" isIcon aria-label={words.close} onClick={close}>
          <X aria-hidden="true" />
        </Button>
      </header>
      <p className={styles['state']}>
        <StateMark state={state} />
        {states[state]}
      </p>
      <dl>
        <dt>{words.lastHeard}</dt>
        <dd>
          <Ago at={lastHeard} />
        </dd>
        <dt>{words.position}</dt>
        <dd className="num">{coordinates(latitude, longitude, language)}</dd>
        <dt>{words.known}</dt>
        <dd>{knownAt === null ? words.withLast : <Ago at={knownAt} />}</dd>
      </dl>
    </section>
  );
}
