// Saves memory in a program that mostly sleeps and then needs little of its own code.
#pragma once

namespace perdure {

// Releases the pages of this program's code and constants. Nothing is lost: they belong to the
// file, stay in the kernel's cache, and return one by one when used. Costs some microseconds now
// and a page fault for each such page later, so it suits long silences.
void release_program_pages();

}  // namespace perdure
