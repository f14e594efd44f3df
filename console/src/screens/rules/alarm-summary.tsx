// Alarm summary: in the card of a rule, what its alarm is, when it ends, and who is notified.
import { useQuery } from '@tanstack/react-query';
import type { AlarmSeverity } from '../../api/alarms.ts';
import { Severity } from '../../parts/severity.tsx';
import { Bone } from '../../parts/states.tsx';
import { useFormats, useWords } from '../../words/language.tsx';
import { outputOf } from '../outputs/output-requests.ts';
import { editorWords } from './editor-words.ts';
import styles from './rules.module.css';
import { secondsOfIso } from '../../words/iso-duration.ts';

interface Alarm {
  readonly name: string;
  readonly severity: AlarmSeverity;
  readonly clearWhen?: string;
  readonly clearAfter?: string;
  readonly escalateAfter?: string;
  readonly notify?: readonly unknown[];
}

export function AlarmSummary({ outputId }: { readonly outputId: string }) {
  const words = useWords(editorWords);
  const { duration } = useFormats();
  const { data, error } = useQuery(outputOf(outputId));
  if (error !== null) return <p className="mute">{error.message}</p>;
  if (data === undefined) return <Bone width="100%" />;
  const alarm = data.alarmProperties as unknown as Alarm;
  const { name, severity, clearWhen, clearAfter, escalateAfter, notify = [] } = alarm;
  const sentences = [
    clearWhen === 'NEVER' ? words.alarmStays : words.alarmClears,
    clearAfter && words.alarmClearsAfter(inWords(clearAfter, duration)),
    escalateAfter && words.alarmEscalates(inWords(escalateAfter, duration)),
    words.alarmNotifies(notify.length),
  ];
  return (
    <div className={styles['alarm']}>
      <Severity of={severity} />
      <code>{name}</code>
      <p className="mute">{sentences.filter(Boolean).join(' ')}</p>
    </div>
  );
}

/** `PT90M` -> `1 h 30 min`; an unusual duration as it is. */
function inWords(iso: string, format: (seconds: number) => string): string {
  const seconds = secondsOfIso(iso);
  return seconds === undefined ? iso : format(seconds);
}
