// Go keys: `g` and then a letter leads to a place of the workspace.
import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { useWorkspaceId } from '../session/last-workspace.ts';
import { placeGroups } from './navigation.ts';

const firstKey = 'g';
const secondWithinMs = 1_000;
const home = '/w/$workspaceId';
const places = placeGroups.flatMap((group) => group.places);

/** Never while a field has the focus, or with a modifier, which belongs to the browser. */
export function useGoKeys(): void {
  const navigate = useNavigate();
  const workspaceId = useWorkspaceId();
  const firstAtMs = useRef(0);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return;
      const isSecond = event.timeStamp - firstAtMs.current < secondWithinMs;
      firstAtMs.current = event.key === firstKey ? event.timeStamp : Number.NEGATIVE_INFINITY;
      const place = isSecond ? places.find(({ key }) => key === event.key) : undefined;
      if (place === undefined) return;
      event.preventDefault();
      const to = (place.path === '' ? home : `${home}/${place.path}`) as typeof home;
      void navigate({ to, params: { workspaceId } });
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [navigate, workspaceId]);
}

function isField(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && target.closest('input, textarea, select, dialog') !== null
  );
}
