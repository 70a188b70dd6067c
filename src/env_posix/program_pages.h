// The memory of a program that mostly sleeps: its own code, of which it needs little while it does.
#pragma once

namespace perdure {

// Gives back the pages of this program's code and constants. Nothing is lost: they are the file's,
// stay in the kernel's cache, and come back one by one where they are used. Costs some
// microseconds now and a fault for each such page later; for long silences.
void release_program_pages();

}  // namespace perdure
