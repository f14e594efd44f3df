// Device pick: a search field whose list of matches is walked with the arrow keys.
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useId, useState } from 'react';
import type { FoundDevice } from '../api/devices-by-id.ts';
import { ask, platform } from '../api/platform.ts';
import { useSettledValue } from '../live/use-settled-value.ts';
import { useWords } from '../words/language.tsx';
import { partWords } from './part-words.ts';
import styles from './device-pick.module.css';

const shownMax = 8;

interface DevicePickProps {
  readonly workspaceId: string;
  readonly label: string;
  /** Shown while nothing is typed. */
  readonly chosen?: string | undefined;
  readonly choose: (device: FoundDevice) => void;
}

export function DevicePick({ workspaceId, label, chosen = '', choose }: DevicePickProps) {
  const words = useWords(partWords);
  const id = useId();
  const [typed, setTyped] = useState<string>();
  const [current, setCurrent] = useState(0);
  const matches = useMatches(workspaceId, typed);
  const isOpen = typed !== undefined;
  const take = (device: FoundDevice) => {
    choose(device);
    setTyped(undefined);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const found = matches[current];
    if (event.key === 'Escape' && isOpen) setTyped(undefined);
    else if (event.key === 'Enter' && isOpen && found !== undefined) take(found);
    else if (event.key === 'ArrowDown' && !isOpen) setTyped('');
    else if (event.key === 'ArrowDown') setCurrent(Math.min(matches.length - 1, current + 1));
    else if (event.key === 'ArrowUp') setCurrent(Math.max(0, current - 1));
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div className={styles['pick']}>
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        role="combobox"
        aria-expanded={isOpen}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        {...(isOpen && matches.length > 0 ? { 'aria-activedescendant': `${id}-${current}` } : {})}
        autoComplete="off"
        placeholder={words.searchDevice}
        value={typed ?? chosen}
        onFocus={(event) => event.currentTarget.select()}
        onClick={() => setTyped(typed ?? '')}
        onBlur={() => setTyped(undefined)}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          setCurrent(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div id={`${id}-list`} role="listbox" aria-label={label} hidden={!isOpen}>
        {matches.map((device, at) => (
          // oxlint-disable-next-line jsx-a11y/click-events-have-key-events -- the keys of the field above walk the list
          <div
            key={device.id}
            id={`${id}-${at}`}
            role="option"
            tabIndex={-1}
            aria-selected={at === current}
            // The press would take the focus from the field, which closes the list.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(device)}
          >
            {device.name} <span className="faint mono">{device.deviceId}</span>
          </div>
        ))}
        {matches.length === 0 && (
          <div role="option" aria-selected="false" aria-disabled="true">
            {words.noDeviceFound}
          </div>
        )}
      </div>
    </div>
  );
}

function useMatches(workspaceId: string, typed: string | undefined): readonly FoundDevice[] {
  const search = useSettledValue(typed ?? '');
  const found = useQuery({
    queryKey: ['device pick', workspaceId, search],
    enabled: typed !== undefined,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const query = {
        workspaceId,
        size: shownMax,
        fields: 'id,name,deviceId',
        sort: 'name,asc',
        ...(search === '' ? {} : { search }),
      };
      const { content } = await ask(platform.GET('/v3/assets', { signal, params: { query } }));
      return content;
    },
  });
  return found.data ?? [];
}
