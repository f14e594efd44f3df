// Add alarm button: opens the alarm of a chart; its dialog is loaded when it opens.
import { BellPlus } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { late } from '../../../ui/late.tsx';
import { useWords } from '../../../words/language.tsx';
import { wordSet } from '../../../words/word-set.ts';
import type { AlarmSource } from './alarm-draft.ts';

export const AddAlarm = late('AddAlarm', async () => (await import('./add-alarm.tsx')).AddAlarm);

export const addAlarmWords = wordSet(
  { add: 'Add alarm', addTo: (title: string) => `Add alarm to ${title}` },
  { add: 'Alarm hinzufügen', addTo: (title) => `Alarm zu ${title} hinzufügen` },
);

interface AddAlarmButtonProps {
  readonly workspaceId: string;
  /** Values that the chart shows, the first one chosen. Nothing is shown without any. */
  readonly sources: readonly AlarmSource[];
  /** Of the tile, where several buttons stand on one page and each is a picture. */
  readonly title?: string;
}

export function AddAlarmButton({ workspaceId, sources, title }: AddAlarmButtonProps) {
  const words = useWords(addAlarmWords);
  const [isOpen, setOpen] = useState(false);
  if (sources.length === 0) return null;
  const open = () => setOpen(true);
  const name = title === undefined ? undefined : words.addTo(title);
  return (
    <>
      {name === undefined ? (
        <Button needs="rule: create" onClick={open}>
          <BellPlus aria-hidden="true" />
          {words.add}
        </Button>
      ) : (
        <Button
          needs="rule: create"
          look="ghost"
          isIcon
          aria-label={name}
          title={name}
          onClick={open}
        >
          <BellPlus aria-hidden="true" />
        </Button>
      )}
      {isOpen && (
        <AddAlarm workspaceId={workspaceId} sources={sources} close={() => setOpen(false)} />
      )}
    </>
  );
}
