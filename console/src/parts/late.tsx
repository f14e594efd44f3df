// Late parts: shown as soon as their code has arrived; React delays what it reveals after a fallback.
import { type ComponentType, useEffect, useState } from 'react';

/** The component that `load` brings; until then nothing is in its place. */
export function late<P extends object>(load: () => Promise<ComponentType<P>>): ComponentType<P> {
  return function Late(props: P) {
    const [Part, setPart] = useState<ComponentType<P>>();
    useEffect(() => {
      let isShown = true;
      void load().then((part) => {
        if (isShown) setPart(() => part);
      });
      return () => {
        isShown = false;
      };
    }, []);
    return Part === undefined ? null : <Part {...props} />;
  };
}
