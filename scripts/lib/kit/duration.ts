/**
 * A duration as people read it. Tenths below ten seconds, whole seconds below a minute,
 * then minutes and seconds, then hours and minutes; rounded to the unit shown.
 * @param ms milliseconds; negative and non-finite values count as 0
 */
export function formatDuration(ms: number): string {
	const safe = Number.isFinite(ms) && ms > 0 ? ms : 0;
	const tenths = Math.round(safe / 100);
	if (tenths < 100) return `${(tenths / 10).toFixed(1)} s`;
	const seconds = Math.round(safe / 1000);
	if (seconds < 60) return `${seconds} s`;
	if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${twoDigits(seconds % 60)} s`;
	const minutes = Math.round(seconds / 60);
	return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} min`;
}

function twoDigits(value: number): string {
	return String(value).padStart(2, '0');
}
